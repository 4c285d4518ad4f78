import BackplaneTerminal

extension ServiceList {
    /// The table of components, grouped by plugin.
    var table: Table {
        Table(
            ["PLUGIN", "ROLE", "CLASS", "PROVIDES", "USED BY"],
            plugins.flatMap { plugin in
                let name = Span("\(plugin.id) \(plugin.version)".printable)
                return plugin.components.isEmpty
                    ? [[name, Span("nothing", .faint), "", "", ""]] : plugin.components.map { [name] + $0.cells }
            })
    }

    /// The table of wires that are not connected, or `nil` if there are none.
    var missingTable: Table? {
        guard !missing.isEmpty else { return nil }
        return Table(["MANAGER", "CLASS", "WIRE", "ASKS FOR", "NEED", "COULD BE"], missing.map(\.cells))
    }
}

extension ServiceList.ListedComponent {
    fileprivate var cells: [Span] {
        let count = streams.map { " (\($0.count) stream\($0.count == 1 ? "" : "s"))" } ?? ""
        let provides = contract.map { Span("\($0.printable) \(contractVersion ?? "")\(count)") } ?? Span("-", .faint)
        let users = usedBy.isEmpty ? Span("unused", .doubtful) : Span(usedBy.joined(separator: ", ").printable)
        return [Span(role), Span("\(className) \(version)".printable), provides, users]
    }
}

extension ServiceList.MissingWire {
    fileprivate var cells: [Span] {
        [
            Span(manager.printable), Span(className.printable), Span(label.printable),
            Span("\(contract.printable) \(version)"),
            isOptional ? Span("optional", .faint) : Span("needed", .bad),
            candidates.isEmpty ? Span("none", .faint) : Span(candidates.joined(separator: ", ").printable),
        ]
    }
}
