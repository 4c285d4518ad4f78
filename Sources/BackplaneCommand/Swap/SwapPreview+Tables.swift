import Backplane
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

extension SwapPreview {
    /// Returns the preview as text: tables of the changes, then warnings, then the reasons for a refusal.
    func lines(colour: Bool) -> [String] {
        let tables = [pluginTable, componentTable, wireTable].filter { !$0.rows.isEmpty }.map {
            $0.lines(colour: colour)
        }
        let remarks = warnings.map { [Span("warning: ", .doubtful), Span($0.printable)].text(colour: colour) }
        let objections = refusals.flatMap(\.reportLines).map { Span($0, .bad).text(colour: colour) }
        let accepted =
            plugins.isEmpty
            ? "nothing to do: the libraries are identical to the active ones" : "nothing was changed"
        let verdict = refusals.isEmpty ? accepted : "the swap would be refused; nothing was changed:"
        return Array((tables + [remarks + [verdict] + objections]).joined(separator: [""]))
    }

    private var pluginTable: Table {
        Table(
            ["PLUGIN", "VERSION", "GENERATION", "LIBRARY"],
            plugins.map { change in
                [
                    Span(change.plugin.printable),
                    Span(
                        change.fromVersion == change.toVersion
                            ? "\(change.toVersion)" : "\(change.fromVersion) → \(change.toVersion)"),
                    Span(change.generations), Span(change.library.printable),
                ]
            })
    }

    private var componentTable: Table {
        Table(
            ["COMPONENT", "ROLE", "CLASS", "VERSION", "ITS CALLS", "IN FLIGHT", "STATE"],
            components.map { change in
                [
                    Span(change.component.printable), Span(change.role),
                    Span(change.className.printable), Span(change.versions),
                    Span(change.manner == .gated ? "wait" : "do not wait"), Span("\(change.callsInFlight)"),
                    change.state.map {
                        $0.lost == nil ? $0.way : Span("\($0.text), lost: \($0.lost ?? "")".printable, .bad)
                    } ?? Span("-", .faint),
                ]
            })
    }

    private var wireTable: Table {
        Table(
            ["USER", "WIRE", "PROVIDER", "CONTRACT", "LANE", "WHY"],
            wires.map { change in
                let lane = change.fromLane == change.toLane ? change.toLane : "\(change.fromLane) → \(change.toLane)"
                return [change.user ?? "host program", change.label, change.provider, change.contract].map {
                    Span($0.printable)
                }
                    + [
                        Span(lane, change.toLane == "native" ? .good : .doubtful),
                        Span((change.reason ?? "").printable),
                    ]
            })
    }
}

extension StateChange {
    /// The versions of the state, and the lane in which it would cross.
    fileprivate var way: Span {
        guard let lane else { return Span(text) }
        return Span("\(text), \(lane)\(reason.map { ": \($0.printable)" } ?? "")")
    }
}
