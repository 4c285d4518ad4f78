import BackplaneScaffold
import BackplaneTerminal

extension ManagerConstants {
    /// Returns the constants as Swift source.
    ///
    /// - Parameter manifest: The path of the manifest, which is mentioned in the first line of the source.
    func swift(of manifest: String) -> String {
        let contracts = Dictionary(grouping: constants, by: \.contract).sorted { $0.key < $1.key }
        var lines = [
            "// The managers of \(manifest.printable), as in `host.manager(\(constants.first.map { ".\($0.identifier)" } ?? "…"))`."
        ]
        if !contracts.isEmpty {
            lines += [
                "import BackplaneHost", "// Also import what declares \(contracts.map(\.key).joined(separator: ", ")).",
                "",
            ]
        }
        for (contract, constants) in contracts {
            lines.append("extension ManagerName where C == \(contract) {")
            lines += constants.map { "    static var \($0.identifier): Self { \($0.manager.swiftLiteral) }" }
            lines += ["}", ""]
        }
        lines += others.map { "// \($0.manager.printable): \($0.reason.printable)" }
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}
