import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The command `backplane stats`: lists the call statistics of every component of a running host.
struct StatsCommand: Sendable {
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        host.ask(StatisticsRequest()) { statistics, _ in
            guard !json else {
                Output.json(statistics)
                return 0
            }
            Output.table(StatisticsTable.table(statistics.values))
            let values = statistics.values
            let more = [
                StatisticsTable.latencies(values), StatisticsTable.failures(values), StatisticsTable.streams(values),
                StatisticsTable.timers(values), StatisticsTable.exchanges(values),
            ]
            for table in more.compactMap(\.self) {
                Output.line("")
                Output.table(table)
            }
            return 0
        }
    }
}
