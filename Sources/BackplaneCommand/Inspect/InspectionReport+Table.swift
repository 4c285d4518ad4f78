import Backplane
import BackplaneHost
import BackplaneTerminal
import BackplaneValidate

extension InspectionReport {
    func printTable() {
        Output.table(["path", path.printable], facts.map { $0.map(\.printable) })
        if let plugin { plugin.printTable() }
        Output.line("")
        guard !loads else { return Output.line("a host loads it") }
        Output.line("a host refuses it")
        for line in problems.flatMap(\.reportLines) { Output.line("  " + line) }
    }

    private var facts: [[String]] {
        var facts: [[String]] = []
        if let id = plugin?.id ?? identity?.id {
            facts.append([
                "plugin", [id, plugin?.version ?? identity?.version].compactMap(\.self).joined(separator: " "),
            ])
        }
        if let identity {
            facts.append(["ABI", LibraryIdentity.text(identity.abi.lowest...identity.abi.highest)])
            facts.append(["SDK", identity.sdk ?? "none"])
            facts.append(["Swift", identity.swift ?? (identity.hasSwift ? "not said" : "none")])
            facts.append(["toolchain", identity.toolchain ?? "not said"])
        }
        if let size { facts.append(["size", counted(size, "byte")]) }
        if let sha256 { facts.append(["SHA-256", sha256]) }
        return facts
    }
}

extension PluginReport {
    func printTable() {
        Output.line("")
        guard !components.isEmpty else { return Output.line("no components") }
        Output.table(["COMPONENT", "KIND", "CONTRACT"], components.flatMap(\.rows).map { $0.map(\.printable) })
    }
}

extension PluginReport.ReportedComponent {
    /// The rows of the component, its methods and its wires.
    fileprivate var rows: [[String]] {
        [["\(className) \(version)", role, contract.map { "provides \($0.name) \($0.version)" } ?? "-"]]
            + (contract?.methods ?? []).map { ["  \($0.name)", "\($0.kind) method", ""] }
            + wires.map {
                [
                    "  \($0.label)", $0.isOptional ? "optional wire" : "wire",
                    "uses \($0.contract.name) \($0.contract.version)",
                ]
            }
    }
}
