import Backplane
package import BackplaneHost

extension ChangeReport {
    /// Returns the report as text: the changes, followed by their duration, or else the plan.
    package func lines(colour: Bool) -> [String] {
        outcome == .planned ? planLines(colour: colour) : resultLines.map { $0.text(colour: colour) }
    }

    private var resultLines: [[Span]] {
        if outcome == .changed, plugins.isEmpty {
            // The managers are named already.
            let others = components.filter { $0.role != "manager" || $0.state != nil || !$0.graphs.isEmpty }
            return managers.lines.map { [Span($0)] } + others.map(\.report) + wires.compactMap(\.report)
                + (callsHeld == 0 ? [] : [summary]) + warningLines
        }
        let effect = outcome == .changed && managers.movesAny ? managers.lines.map { [Span("  \($0)")] } : []
        return headings + effect + components.map(\.report) + wires.compactMap(\.report)
            + (components.isEmpty ? [] : [summary]) + warningLines
    }

    private var warningLines: [[Span]] { warnings.map { [Span("warning: ", .doubtful), Span($0.printable)] } }

    private var headings: [[Span]] {
        switch outcome {
        case .unchanged:
            return [[Span("nothing to do: the libraries are identical to the active ones")]]
        case .changed, .planned:
            return plugins.map { [Span("swapped ", .good)] + $0.report }
        case .rolledBack:
            return plugins.map {
                let active = $0.fromGeneration == 0 ? "" : ": generation \($0.fromGeneration) is active again"
                return [Span("rolled back ", .bad)] + $0.report + [Span(active)]
            }
        }
    }

    private var summary: [Span] {
        let waited =
            callsHeld == 0
            ? "no calls waited"
            : "\(counted(callsHeld, "call")) waited, \(Figure.milliseconds(longestWait.milliseconds)) at most"
        return [Span("\(waited); \(Figure.milliseconds(duration.milliseconds)) from the request to the new code")]
    }
}

extension PluginChange {
    /// The old and new versions and generations.
    fileprivate var report: [Span] {
        let versions = fromVersion == toVersion ? "\(toVersion)" : "\(fromVersion) → \(toVersion)"
        return [Span(plugin.printable, .heading), Span(" \(versions), generation \(generations)")]
    }
}

extension PluginChange {
    /// The old and new generations, without the old one if the plugin is new.
    package var generations: String {
        fromGeneration == 0 ? "\(toGeneration), new" : "\(fromGeneration) → \(toGeneration)"
    }
}

extension ComponentChange {
    fileprivate var report: [Span] {
        let name = "  \(component.printable)\(formerName.map { ", formerly \($0.printable)" } ?? ""): "
        let change = action == .replaced ? versions : action.rawValue
        let state: [Span] = action == .reconfigured ? [] : state?.report ?? [Span(stateless)]
        return [Span(name), Span(change)] + state
            + graphs.map { Span("; the graph `\($0.printable)` ends in the replaced code") }
    }

    /// The words for a component that declares no state, so that a new instance starts empty.
    private var stateless: String {
        action == .replaced || action == .recreated ? ", its memory starts empty: it declares no state" : ", no state"
    }

    /// The old and new versions of the component's class.
    package var versions: String {
        if let fromVersion, fromVersion != toVersion { "\(fromVersion) → \(toVersion)" } else { "\(toVersion)" }
    }
}

extension StateChange {
    fileprivate var report: [Span] {
        if let lost { return [", ", Span("state `\(schema.printable)` lost: \(lost.printable)", .bad)] }
        let remark: [Span] = remark.map { [" (", Span($0.printable), ")"] } ?? []
        return [", ", Span("state \(text)")] + carriage + remark
    }

    /// The lane in which the state is transferred, and its size if known.
    private var carriage: [Span] {
        if lane == "native" { return [Span(", carried over natively")] }
        let why = lane.map { [Span(", \($0)", .doubtful), Span(reason.map { ": \($0.printable)" } ?? "")] } ?? []
        return [Span(", \(Figure.bytes(bytes)) carried over")] + why
    }

    /// The state's schema, and its old and new versions.
    package var text: String {
        let versions =
            switch (fromVersion, toVersion) {
            case (let from?, let to?): from == to ? "\(to)" : "\(from) → \(to)"
            case (nil, let to?): "none → \(to)"
            case (let from?, nil): "\(from) → none"
            case (nil, nil): "-"
            }
        return "`\(schema.printable)` \(versions)"
    }
}

extension WireChange {
    /// The change of the lane as text.
    var text: String { (report ?? []).map(\.text).joined() }

    /// The change of the lane, or `nil` if it has not changed.
    fileprivate var report: [Span]? {
        guard fromLane != toLane else { return nil }
        let why = reason.map { ": " + $0.printable } ?? ""
        return [
            Span("  wire `\(label.printable)` of \(user?.printable ?? "the host program"): \(fromLane) → "),
            Span(toLane, toLane == "native" ? .good : .doubtful), Span(why),
        ]
    }
}

// MARK: The plan

extension ChangeReport {
    /// The plan as text: tables of the changes, then what stays unchanged, the warnings and the reasons for a refusal.
    private func planLines(colour: Bool) -> [String] {
        let tables = [pluginTable, componentTable, wireTable].filter { !$0.rows.isEmpty }.map {
            $0.lines(colour: colour)
        }
        let kept =
            managers.kept.isEmpty ? [] : ["unaffected: \(managers.kept.sorted().joined(separator: ", ").printable)"]
        let remarks = warningLines.map { $0.text(colour: colour) }
        let objections = refusals.flatMap(\.reportLines).map { Span($0, .bad).text(colour: colour) }
        let accepted =
            plugins.isEmpty && components.isEmpty
            ? "nothing to do: everything is identical to what is active" : "nothing was changed"
        let verdict = refusals.isEmpty ? accepted : "the change would be refused; nothing was changed:"
        return Array((tables + [kept + remarks + [verdict] + objections]).joined(separator: [""]))
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
            ["COMPONENT", "ROLE", "CLASS", "VERSION", "ACTION", "ITS CALLS", "IN FLIGHT", "STATE", "WHY"],
            components.map { change in
                [
                    Span(change.component.printable), Span(change.role),
                    Span(change.className.printable), Span(change.versions), Span(change.action.rawValue),
                    Span(change.manner == .gated ? "wait" : "do not wait"), Span(change.inFlight),
                    change.state.map {
                        $0.lost == nil ? $0.way : Span("\($0.text), lost: \($0.lost ?? "")".printable, .bad)
                    } ?? Span([.replaced, .recreated].contains(change.action) ? "starts empty" : "-", .faint),
                    Span(change.reason.printable),
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

extension ComponentChange {
    fileprivate var inFlight: String {
        graphs.isEmpty ? "\(callsInFlight)" : "\(callsInFlight), \(counted(graphs.count, "graph"))"
    }
}

extension StateChange {
    /// The versions of the state, and the lane in which it would be transferred.
    fileprivate var way: Span {
        guard let lane else { return Span(text) }
        return Span("\(text), \(lane)\(reason.map { ": \($0.printable)" } ?? "")")
    }
}

extension ManagerChanges {
    /// A Boolean value that indicates whether managers start, stop or are reconfigured, and not only recreated.
    var movesAny: Bool { !(started.isEmpty && stopped.isEmpty && reconfigured.isEmpty) }

    /// The lines of a text report, one for each kind of change that occurred.
    package var lines: [String] {
        let kinds = [
            ("started", started), ("recreated", restarted), ("reconfigured", reconfigured), ("stopped", stopped),
        ].filter { !$0.1.isEmpty }
        let changes = kinds.map { kind, names in "\(kind): \(names.sorted().joined(separator: ", ").printable)" }
        let rest = kept.isEmpty ? [] : ["\(counted(kept.count, "manager")) unaffected"]
        return changes.isEmpty && rest.isEmpty ? ["no manager was or is running"] : changes + rest
    }
}

extension HostEvent {
    /// The lines of the event for a terminal: the time, the event and, for a failure, the causes.
    package var lines: [String] {
        let indent = String(repeating: " ", count: time.localTime.count + 2)
        return texts.enumerated().map { $0 == 0 ? "\(time.localTime)  \($1)" : indent + $1 }
    }

    private var texts: [String] {
        switch kind {
        case .started(let managers):
            [managers.isEmpty ? "started: no managers" : "started: \(managers.joined(separator: ", ").printable)"]
        case .swapped(let report): report.lines(colour: false) + (report.failure?.reportLines ?? [])
        case .applied(let report): ["applied a manifest"] + report.lines(colour: false)
        case .reset(let report): ["reset"] + report.lines(colour: false)
        case .failed(let operation, let error):
            ["\(operation.rawValue) failed: \(error.reportLines.first ?? "")"] + error.reportLines.dropFirst()
        case .laneChanged(let wire): [wire.text]
        case .missed(let count): ["\(counted(count, "event")) missed, because this command was too slow for them"]
        }
    }
}

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
