import Backplane
import BackplaneHost
import FoundationEssentials

/// An event as a line of JSON.
private struct DevEventLine: Encodable {
    /// The time of the event, in seconds since 1970.
    var time: Double
    var event: DevEvent

    private enum CodingKeys: String, CodingKey { case event, time }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event.name, forKey: .event)
        try container.encode(time, forKey: .time)
        try event.payload.encode(to: encoder)
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Events consist of strings and finite numbers, so encoding does not fail.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension DevEvent {
    func json(at time: Double) -> String { DevEventLine(time: time, event: self).text }

    /// The name of the event, which is the value of the key `event`.
    var name: String { parts.name }
    fileprivate var payload: any Encodable { parts.payload }

    private var parts: (name: String, payload: any Encodable) {
        switch self {
        case .started(let beginning): ("started", beginning)
        case .buildStarted(let build): ("buildStarted", build)
        case .buildProgress(let progress): ("buildProgress", progress)
        case .buildWaiting(let obstacle): ("buildWaiting", obstacle)
        case .diagnostic(let finding): ("diagnostic", finding)
        case .buildEnded(let result): ("buildEnded", result)
        case .hostStarted(let report): ("hostStarted", report)
        case .alsoRunning(let others): ("alsoRunning", others)
        case .hostEnded(let ending): ("hostEnded", ending)
        case .swapped(let swap): ("swapped", swap)
        case .unchanged(let libraries): ("unchanged", libraries)
        case .refused(let refusal): ("refused", refusal)
        case .rolledBack(let report): ("rolledBack", report)
        case .applied(let change): ("applied", change)
        case .generations(let memory): ("generations", memory)
        case .output(let line): ("output", line)
        case .stopped(let reason): ("stopped", reason)
        }
    }
}
