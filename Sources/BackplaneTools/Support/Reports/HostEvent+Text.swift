import Backplane
package import BackplaneHost

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
