import Backplane
import BackplaneHost
import BackplaneTerminal

/// The table of call statistics, one row for each component.
enum StatisticsTable {
    static func table(_ statistics: [ComponentStatistics]) -> Table {
        Table(
            ["COMPONENT", "PLUGIN", "GENERATION", "CALLS", "ERRORS", "IN FLIGHT", "WAITING"],
            statistics.map { row in
                [
                    Span(row.component.printable), Span(row.plugin.printable), Span("\(row.generation)"),
                    Span("\(row.calls)"), Span("\(row.errors)", row.errors == 0 ? .plain : .bad),
                    Span("\(row.inFlight)"), Span("\(row.waiting)", row.waiting == 0 ? .plain : .doubtful),
                ]
            })
    }
}
