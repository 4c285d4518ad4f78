import BackplaneNetwork
import BackplaneTerminal
import Synchronization

/// The progress of an exchange's bodies: a bar on a terminal, otherwise a line for every tenth.
final class TransferLine: Sendable {
    let isShown: Bool
    private let isTerminal: Bool
    private let last = Mutex("")

    init(shows: Bool) {
        isShown = shows
        isTerminal = Terminal.takesProgress
    }

    /// Shows the progress unless the line would be unchanged.
    @Sendable func show(_ progress: HTTPProgress) {
        let text = Self.text(progress, isTerminal: isTerminal)
        let isNew = last.withLock { last in
            defer { last = text }
            return last != text && !text.isEmpty
        }
        guard isNew else { return }
        if isTerminal { ProgressLine().show(text) } else { Output.remark(text) }
    }

    func end() {
        if isTerminal, isShown { ProgressLine().clear() }
    }

    /// Returns the line for the progress of the upload until the response begins, and then of the download.
    static func text(_ progress: HTTPProgress, isTerminal: Bool) -> String {
        progress.received > 0 || progress.toReceive != nil && progress.sent == progress.toSend ?? 0
            ? line("received", progress.received, of: progress.toReceive, isTerminal)
            : line("sent", progress.sent, of: progress.toSend, isTerminal)
    }

    private static func line(_ what: String, _ count: Int64, of total: Int64?, _ isTerminal: Bool) -> String {
        guard let total, total > 0 else {
            // Without a total, a line for every 16 MB.
            let step: Int64 = isTerminal ? 1 << 20 : 16 << 20
            let shown = count / step * step
            return shown == 0 ? "" : "\(what) \(size(shown))"
        }
        let tenths = Int(min(10, count * 10 / total))
        guard isTerminal else { return "\(what) \(tenths * 10) % of \(size(total))" }
        let percent = min(100, count * 100 / total), filled = Int(percent) * 30 / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 30 - filled)
        return "\(what) [\(bar)] \(percent) % of \(size(total))"
    }

    private static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<10_000: "\(bytes) bytes"
        case ..<10_000_000: "\(bytes / 1000) kB"
        default: "\(bytes / 1_000_000) MB"
        }
    }
}
