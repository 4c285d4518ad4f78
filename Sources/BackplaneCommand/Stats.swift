import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Show statistics on the calls, streams and timers of a running host's components.",
            discussion: """
                The tables show, for each component, its managers, its last error, and the numbers of calls that \
                started, failed, are in flight, and wait for a change to finish. Further tables show the times of \
                encoded calls, streams and their elements, the runs of timers, and the HTTP exchanges of each plugin \
                with the sizes of their bodies. For each host with limits, the running, waiting and refused requests \
                are counted.

                EXAMPLES
                  backplane stats
                  backplane stats --manifest manifests/almanac.json --json
                """)

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() throws {
            try host.choice.show(StatisticsRequest(), json: json) { values in
                let components = values.components
                Output.table(StatisticsTable.table(components))
                let more = [
                    StatisticsTable.latencies(components), StatisticsTable.failures(components),
                    StatisticsTable.streams(components), StatisticsTable.timers(components),
                    StatisticsTable.exchanges(components), StatisticsTable.limits(values.limits),
                ]
                for table in more where !table.rows.isEmpty {
                    Output.line("")
                    Output.table(table)
                }
            }
        }
    }
}

/// The tables of call statistics, of encoded calls and last errors, of timers, of plugins' exchanges, and of limits.
enum StatisticsTable {
    static func table(_ statistics: [ComponentStatistics]) -> Table {
        Table(
            ["COMPONENT", "OWNER", "PLUGIN", "GENERATION", "CALLS", "ERRORS", "IN FLIGHT", "WAITING"],
            statistics.map { row in
                [
                    Span(row.component.printable), row.owner, Span(row.plugin.printable), Span("\(row.generation)"),
                    Span("\(row.calls)"), Span("\(row.errors)", row.errors == 0 ? .plain : .bad),
                    Span("\(row.inFlight)"), Span("\(row.waiting)", row.waiting == 0 ? .plain : .doubtful),
                ]
            })
    }

    /// Returns the table of the times of encoded calls.
    static func latencies(_ statistics: [ComponentStatistics]) -> Table {
        let rows = statistics.compactMap { component in
            component.latency.map { times in
                [Span(component.component.printable), component.owner, Span("\(times.calls)")]
                    + [times.median, times.percentile99, times.longest].map {
                        Span(Figure.milliseconds($0.milliseconds))
                    }
            }
        }
        return Table(["ENCODED CALLS OF", "OWNER", "CALLS", "MEDIAN", "99 %", "LONGEST"], rows)
    }

    /// Returns the table of the last errors.
    static func failures(_ statistics: [ComponentStatistics], time: (Double) -> String = Figure.time) -> Table {
        let rows = statistics.compactMap { component in
            component.lastFailure.map { last in
                [
                    Span(component.component.printable), component.owner, Span(time(last.time)),
                    Span(last.error.description.printable, .bad),
                ]
            }
        }
        return Table(["LAST ERROR OF", "OWNER", "AT", "ERROR"], rows)
    }

    /// Returns the table of streams.
    static func streams(_ statistics: [ComponentStatistics]) -> Table {
        let rows = statistics.filter { $0.streams.opened > 0 }.map { component in
            let streams = component.streams
            return [
                Span(component.component.printable), Span("\(streams.open)"), Span("\(streams.opened)"),
                Span("\(streams.elements)"),
            ]
        }
        return Table(["STREAMS OF", "OPEN", "OPENED", "ELEMENTS"], rows)
    }

    /// Returns the table of timers.
    static func timers(_ statistics: [ComponentStatistics]) -> Table {
        let rows = statistics.flatMap { component in
            component.timers.map { row(of: $0, in: component) }
                + (component.timerCount > component.timers.count ? [more(in: component)] : [])
        }
        return Table(["TIMER", "COMPONENT", "EVERY", "NEXT", "RUNS", "ERRORS"], rows)
    }

    /// Returns the table of exchanges over HTTP, one row for each plugin that made any.
    static func exchanges(_ statistics: [ComponentStatistics]) -> Table {
        var sums: [String: ExchangeStatistics] = [:]
        for row in statistics where row.exchanges.begun > 0 {
            sums[row.plugin] = (sums[row.plugin] ?? ExchangeStatistics()) + row.exchanges
        }
        return Table(
            ["PLUGIN", "EXCHANGES", "ERRORS", "IN FLIGHT", "SENT", "RECEIVED"],
            sums.sorted { $0.key < $1.key }.map { plugin, sum in
                [
                    Span(plugin.printable), Span("\(sum.begun)"),
                    Span("\(sum.failed)", sum.failed == 0 ? .plain : .bad), Span("\(sum.inFlight)"),
                    Span(Figure.bytes(sum.sent)), Span(Figure.bytes(sum.received)),
                ]
            })
    }

    /// Returns the table of the limits for hosts.
    static func limits(_ statistics: [LimitStatistics]) -> Table {
        let rows = statistics.map { row in
            let breaker = [row.breaker, row.nextProbe.map { "for \(Figure.milliseconds($0.milliseconds))" }]
            return [
                Span(row.host.printable), Span("\(row.running)"),
                Span("\(row.waiting)", row.waiting == 0 ? .plain : .doubtful),
                Span("\(row.refused)", row.refused == 0 ? .plain : .bad),
                row.breaker == nil
                    ? Span("-", .faint)
                    : Span(
                        breaker.compactMap(\.self).joined(separator: " ").printable,
                        row.breaker == "closed" ? .plain : .bad),
            ]
        }
        return Table(["HOST WITH LIMITS", "RUNNING", "WAITING", "REFUSED", "BREAKER"], rows)
    }

    private static func row(of timer: TimerStatistics, in component: ComponentStatistics) -> [Span] {
        [
            Span(timer.name.printable), Span(component.component.printable),
            timer.period.map { Span(Figure.milliseconds($0.milliseconds)) } ?? Span("once", .faint),
            timer.isRunning
                ? Span("running", .doubtful)
                : timer.next.map { Span("in \(Figure.milliseconds($0.milliseconds))") } ?? Span("-", .faint),
            Span("\(timer.runs)"), Span("\(timer.failures)", timer.failures == 0 ? .plain : .bad),
        ]
    }

    private static func more(in component: ComponentStatistics) -> [Span] {
        [
            Span("and \(component.timerCount - component.timers.count) more", .faint),
            Span(component.component.printable), Span(""), Span(""), Span(""), Span(""),
        ]
    }
}

extension ComponentStatistics {
    /// The managers to which the component belongs, unless it is a manager itself.
    fileprivate var owner: Span {
        let others = managers.filter { $0 != component }
        return others.isEmpty ? Span("-", .faint) : Span(others.joined(separator: ", ").printable)
    }
}
