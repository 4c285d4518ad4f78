import Backplane
package import BackplaneHost

/// The table of generations, grouped by plugin.
package enum GenerationRows {
    /// Returns the table.
    ///
    /// - Parameter time: A function that formats a time in seconds since 1970.
    package static func table(_ generations: [Generation], time: (Double) -> String = Figure.time) -> Table {
        Table(
            ["PLUGIN", "GENERATION", "VERSION", "STATE", "LOADED", "MEMORY", "HELD BY"],
            generations.map { generation in
                [
                    Span(generation.plugin.printable), Span("\(generation.number)"), Span("\(generation.version)"),
                    generation.state.span, Span(time(generation.loadedAt)),
                    generation.dirtyBytes.map { Span(Figure.bytes($0)) } ?? Span("-", .faint),
                    Span(generation.heldBy.joined(separator: "; ").printable),
                ]
            })
    }
}

extension Generation.State {
    fileprivate var span: Span {
        switch self {
        case .loaded: Span("loaded")
        case .active: Span("active", .good)
        case .onProbation: Span("on probation", .doubtful)
        case .retired: Span("retired")
        case .failed: Span("failed", .bad)
        }
    }
}
