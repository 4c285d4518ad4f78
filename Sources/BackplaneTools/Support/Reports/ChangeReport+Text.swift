import Backplane
import BackplaneHost

extension ChangeReport {
    /// Returns the report as text: the changes, followed by their duration.
    package func lines(colour: Bool) -> [String] {
        let parts =
            [headings] + [
                managers.map { $0.lines.map { [Span("  \($0)")] } } ?? [],
                components.map(\.report), wires.compactMap(\.report), steps.isEmpty && plugins.isEmpty ? [] : [summary],
            ]
        return (parts.flatMap(\.self) + warnings.map { [Span("warning: ", .doubtful), Span($0.printable)] }).map {
            $0.text(colour: colour)
        }
    }

    private var headings: [[Span]] {
        switch outcome {
        case .unchanged:
            return [[Span("nothing to do: the libraries are identical to the active ones")]]
        case .swapped:
            let changes = plugins.map { [Span("swapped ", .good)] + $0.report }
            return changes.isEmpty ? [[Span("swapped", .good), Span(" to another manifest")]] : changes
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
        [
            Span("  \(component.printable)\(formerName.map { ", formerly \($0.printable)" } ?? ""): "),
            Span(isRestart ? "recreated" : versions),
        ] + (state?.report ?? ["", ", no state"])
            + graphs.map { Span("; the graph `\($0.printable)` ends in the replaced code") }
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
