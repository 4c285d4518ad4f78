import Backplane
import BackplaneBoundary
import BackplaneDocuments
import FoundationEssentials

/// The transfer of state from one instance to another.
extension SwapTransaction {
    func export(_ member: SwapMember) async throws(BackplaneError) {
        guard let component = member.oldComponent, case .carried(_, let version, _) = member.plan.state else { return }
        let bytes = try await exportState(of: component, as: version)
        guard bytes.count <= surroundings.options.stateLimit else {
            throw BackplaneError(
                .stateIncompatible,
                "the state of \(member.name) has \(bytes.count) bytes, but the host's limit is \(surroundings.options.stateLimit) (`HostOptions.stateLimit`)",
                at: component.node.location)
        }
        member.state = bytes
    }

    /// Imports the state into the new instance, and checks it if the options request a check.
    func take(_ member: SwapMember) async throws(BackplaneError) {
        guard let component = member.component, let bytes = member.state,
            case .carried(_, let version, let new) = member.plan.state
        else { return }
        try await importState(bytes, as: version, to: component)
        report(member) { $0.bytes = bytes.count }
        guard surroundings.options.checksState, new.writes.contains(version) else { return }
        let again = try await exportState(of: component, as: version)
        switch JSONComparison(Data(bytes), Data(again)) {
        case .equal: break
        case .reordered:
            report(member) {
                $0.remark = "the order of its arrays differs when it is exported again, as that of a `Set` does"
            }
        case .different:
            report.warnings.append(
                "the state of \(member.name) is not stable: exported, imported and exported again, it is different (\(bytes.count) bytes, then \(again.count)); "
                    + "`importState` may lose a value")
        }
    }

    private func report(_ member: SwapMember, _ note: (inout StateChange) -> Void) {
        guard let place = member.placeInReport, var state = report.components[place].state else { return }
        note(&state)
        report.components[place].state = state
    }

    func exportState(of component: RunningComponent, as version: UInt32) async throws(BackplaneError) -> [UInt8] {
        try await starter.limited("export its state", component.node, limit: stepLimit) {
            watch async throws(BackplaneError) in
            try await component.instance.exportState(version: version, watch)
        }
    }

    func importState(_ bytes: [UInt8], as version: UInt32, to component: RunningComponent) async throws(BackplaneError)
    {
        try await starter.limited("import the state", component.node, limit: stepLimit) {
            watch async throws(BackplaneError) in
            try await component.instance.importState(bytes, version: version, watch)
        }
    }
}
