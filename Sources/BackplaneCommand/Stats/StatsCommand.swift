import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The command `backplane stats`: lists the call statistics of every component of a running host.
struct StatsCommand: Sendable {
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        host.ask(StatisticsRequest()) { statistics, _ in
            if json { Output.json(statistics) } else { Output.table(StatisticsTable.table(statistics.values)) }
            return 0
        }
    }
}
