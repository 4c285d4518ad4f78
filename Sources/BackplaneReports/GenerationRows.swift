import Backplane
package import BackplaneHost
package import BackplaneTerminal

/// Generations under each other, plugin by plugin.
package enum GenerationRows {
    /// - Parameter time: how a moment is written.
    package static func table(_ generations: [Generation], time: (Double) -> String = Figure.time) -> Table {
        Table(
            ["PLUGIN", "GENERATION", "VERSION", "STATE", "LOADED", "MEMORY", "HELD BY"],
            generations.map { generation in
                [
                    Span(generation.plugin.printable), Span("\(generation.number)"), Span("\(generation.version)"), generation.state.span, Span(time(generation.loadedAt)),
                    generation.dirtyBytes.map { Span(Figure.bytes($0)) } ?? Span("-", .faint), Span(generation.heldBy.joined(separator: "; ").printable),
                ]
            })
    }
}

extension Generation.State {
    fileprivate var span: Span {
        switch self {
        case .loaded: Span("loaded")
        case .inForce: Span("in force", .good)
        case .onProbation: Span("on probation", .doubtful)
        case .retired: Span("retired")
        case .failed: Span("failed", .bad)
        }
    }
}
