import Backplane
import BackplaneDocuments
import FoundationEssentials

/// The transfer of state from one class to another.
enum StateTransfer: Equatable {
    /// No transfer, because the old class has no state.
    case none
    /// The state is carried over in this version of the schema.
    case carried(StateDescription, as: UInt32, to: StateDescription)
    /// The state cannot be carried over, for this reason.
    case impossible(String, StateDescription)

    init(from old: StateDescription?, to new: StateDescription?) {
        guard let old else {
            self = .none
            return
        }
        guard let new else {
            self = .impossible("the new code has no state", old)
            return
        }
        guard old.schema == new.schema else {
            self = .impossible("its schema is `\(old.schema)`, but the new code's schema is `\(new.schema)`", old)
            return
        }
        // The highest version that both classes know loses the least.
        let low = max(old.writes.lowerBound, new.accepts.lowerBound),
            high = min(old.writes.upperBound, new.accepts.upperBound)
        self =
            low <= high
            ? .carried(old, as: high, to: new)
            : .impossible(
                "`\(old.schema)` is written in \(Self.text(old.writes)), but the new code reads \(Self.text(new.accepts))",
                old)
    }

    var isCarried: Bool { if case .carried = self { true } else { false } }

    private static func text(_ versions: ClosedRange<UInt32>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension StateTransfer {
    /// Returns the transfer in the form used in reports.
    func change(to new: StateDescription?) -> StateChange? {
        switch self {
        case .none: new.map { StateChange(schema: $0.schema, toVersion: $0.version) }
        case .carried(let old, _, let new):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new.version)
        case .impossible(let reason, let old):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new?.version, lost: reason)
        }
    }
}

/// The transfer of state from one instance to another.
extension Change {
    func export(_ member: ChangeMember) async throws(BackplaneError) {
        guard let component = member.oldComponent, case .carried(_, let version, _) = member.plan.state else { return }
        let state = try await exportState(of: component, as: version, by: member.lane)
        if case .encoded(let bytes) = state, bytes.count > live.options.stateLimit {
            throw BackplaneError(
                .stateIncompatible,
                "the state of \(member.name) has \(bytes.count) bytes, but the host's limit is \(live.options.stateLimit) (`HostOptions.stateLimit`)",
                at: component.node.location)
        }
        member.state = state
    }

    /// Imports the state into the new instance, and checks it if the options request a check.
    func take(_ member: ChangeMember) async throws(BackplaneError) {
        guard let component = member.component, let state = member.state,
            case .carried(_, let version, let new) = member.plan.state
        else { return }
        let isChecked = live.options.checksState && new.writes.contains(version)
        // The value itself is imported last, so that the instance keeps it.
        if isChecked, case .native = state { try await tryEncoded(member, from: version, to: component) }
        try await importState(state, as: version, to: component)
        guard case .encoded(let bytes) = state else { return }
        report.components[member.index].state?.bytes = bytes.count
        if isChecked { try await compare(bytes, with: component, as: version, member) }
    }

    /// Also transfers natively crossing state as bytes, because code of another version or layout needs that.
    private func tryEncoded(_ member: ChangeMember, from version: UInt32, to component: RunningComponent)
        async throws(BackplaneError)
    {
        guard let old = member.oldComponent else { return }
        do throws(BackplaneError) {
            let bytes = try await exportBytes(of: old, as: version)
            try await importState(.encoded(bytes), as: version, to: component)
            try await compare(bytes, with: component, as: version, member)
        } catch {
            try live.requireRunning()
            // Steps never overlap, so no other step can follow one that has not ended.
            guard !old.instance.isInStep, !component.instance.isInStep else { throw error }
            report.warnings.append(
                "the state of \(member.name) crosses natively, but could not cross as JSON, which code of another version or layout needs: \(error.message)"
            )
        }
    }

    /// Compares state that was imported as bytes with the result of exporting it again.
    private func compare(
        _ bytes: [UInt8], with component: RunningComponent, as version: UInt32, _ member: ChangeMember
    ) async throws(BackplaneError) {
        let again = try await exportBytes(of: component, as: version)
        switch JSONComparison(Data(bytes), Data(again)) {
        case .equal: break
        case .reordered:
            report.components[member.index].state?.remark =
                "the order of its arrays differs when it is exported again, as with a `Set`"
        case .different:
            report.warnings.append(
                "the state of \(member.name) is not stable: exported, imported and exported again, it is different (\(bytes.count) bytes, then \(again.count)); "
                    + "`importState` may lose a value")
        }
    }

    func exportState(of component: RunningComponent, as version: UInt32, by lane: Lane?)
        async throws(BackplaneError) -> ExportedState
    {
        guard lane == .native else { return .encoded(try await exportBytes(of: component, as: version)) }
        return .native(
            try await instances.limited(
                "export its state", component.node, limit: stepLimit, step: component.instance.exportValue))
    }

    private func exportBytes(of component: RunningComponent, as version: UInt32) async throws(BackplaneError) -> [UInt8]
    {
        try await instances.limited("export its state", component.node, limit: stepLimit) {
            watch async throws(BackplaneError) in
            try await component.instance.exportState(version: version, watch)
        }
    }

    func importState(_ state: ExportedState, as version: UInt32, to component: RunningComponent)
        async throws(BackplaneError)
    {
        try await instances.limited("import the state", component.node, limit: stepLimit) {
            watch async throws(BackplaneError) in
            switch state {
            case .native(let value): try await component.instance.importValue(value, watch)
            case .encoded(let bytes): try await component.instance.importState(bytes, version: version, watch)
            }
        }
    }

    /// Releases the exported states.
    func dropStates() {
        for member in members { member.state = nil }
    }

    /// Returns the lane in which state crosses from one class to another.
    func lane(of state: StateTransfer, from old: ComponentClass, to new: ComponentClass) -> Lane? {
        guard case .carried(_, let version, _) = state, let from = old.stateSide, let to = new.stateSide else {
            return nil
        }
        if options.encodesState { return .encoded(because: "the swap is set to encode state") }
        return Lane(from: from, to: to, as: version, live.options.lanes)
    }
}
