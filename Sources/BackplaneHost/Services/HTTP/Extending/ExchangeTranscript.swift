import BackplaneNetwork

/// The stages of exchanges as text lines, in which exchanges are numbered.
struct ExchangeTranscript {
    private var numbers: [UInt64: Int] = [:]
    private var last = 0

    /// Returns the lines for the next stages; progress has none.
    mutating func lines(_ batch: ExchangeEvents) -> [String] {
        var lines = batch.events.compactMap { line($0) }
        if batch.lost > 0 { lines.append("\(batch.lost) further stages were dropped, since there were too many") }
        return lines
    }

    private mutating func line(_ event: ExchangeEvent) -> String? {
        guard event.stage != .progress else { return nil }
        let number = numbers[event.exchange] ?? last + 1
        (numbers[event.exchange], last) = (number, max(last, number))
        if event.stage == .end { numbers[event.exchange] = nil }
        return "exchange \(number), \(Self.milliseconds(event.after)) ms: \(Self.text(event))"
    }

    private static func text(_ event: ExchangeEvent) -> String {
        let request = "\(event.method) \(event.url)", status = event.status.map { "\($0)" }
        switch event.stage {
        case .start: return "\(request)\(event.component.map { ", by \($0)" } ?? "")"
        case .attempt: return "attempt \(event.attempt)"
        case .head: return "status \(status ?? "unknown")"
        case .retry:
            let reason = event.error ?? status.map { "status \($0)" } ?? "its value"
            return "retry in \(milliseconds(event.delay ?? 0)) ms, because of \(reason)"
        case .redirect: return "redirect to \(request)"
        case .end:
            let sent = event.sent > 0 ? "\(event.sent) bytes sent, " : ""
            return "end, \(sent)\(event.received) bytes received\(event.error.map { ", \($0)" } ?? "")"
        default: return event.stage.rawValue
        }
    }

    /// Returns nanoseconds as milliseconds with one decimal.
    private static func milliseconds(_ nanoseconds: Int64) -> String {
        let tenths = max(0, nanoseconds) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
