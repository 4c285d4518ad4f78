import Backplane
import BackplaneNetwork
import BackplaneTools
import BackplaneTransfers
import FoundationEssentials
import Glibc
import Synchronization

/// The progress of a transfer: a single line on a terminal, otherwise a line for each tenth, or JSON objects.
struct TransferPrinter: Sendable {
    let json: Bool
    private let showsLine: Bool

    init(json: Bool) { (self.json, showsLine) = (json, !json && Terminal.takesProgress) }

    /// Prints a state if it differs noticeably from the previous one.
    func print(_ state: TransferState, after last: TransferState?) {
        if !json, let reason = state.restart, state.restart != last?.restart {
            end()
            Output.remark("backplane: the transfer was restarted, because \(reason.explanation)")
        }
        if showsLine {
            if state.phase == .running { ProgressLine().show(Self.line(state).shortened(to: Terminal.columns - 1)) }
        } else if Self.milestone(state) != last.map(Self.milestone) {
            if json {
                Output.line(Self.json(state))
            } else if state.phase == .running {
                Output.remark(Self.line(state))
            }
        }
    }

    /// Removes the line from the terminal.
    func end() {
        if showsLine { ProgressLine().clear() }
    }

    /// The part of a state that is printed on a line of its own: each tenth, or every 16 MB if the total is unknown.
    private static func milestone(_ state: TransferState) -> String {
        let step = state.progress.map { Int64($0 * 10) } ?? state.bytes >> 24
        return "\(state.phase) \(state.restart?.rawValue ?? "") \(state.total ?? -1) \(step)"
    }

    /// Returns the line for a running transfer: `45 % of 12 MB, 3 MB/s, 4 s left`.
    static func line(_ state: TransferState) -> String {
        let what = state.isUpload ? "sent" : "received"
        var parts = ["\(what) \(Figure.bytes(Int(state.bytes)))"]
        if let total = state.total, let progress = state.progress {
            let filled = Int(progress * 20)
            let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
            parts = ["\(what) [\(bar)] \(Int(progress * 100)) % of \(Figure.bytes(Int(total)))"]
        }
        if let rate = state.rate { parts.append("\(Figure.bytes(Int(rate)))/s") }
        if let left = state.timeLeft { parts.append("\(time(left)) left") }
        return parts.joined(separator: ", ")
    }

    static func time(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        default: "\(seconds / 3_600) h"
        }
    }

    /// Returns a state as a single-line JSON object.
    static func json(_ state: TransferState) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always encode.
        return (try? encoder.encode(state)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// The transfers of a host: a table that is redrawn on a terminal, otherwise a line for each change.
///
/// A finished transfer is removed from the table, and a line above the table remains.
final class TransferTableView: Sendable {
    private let json: Bool
    private let redraws: Bool
    /// The number of lines of the table on the terminal, and the last milestone of each transfer.
    private let shown = Mutex((lines: 0, steps: [String: String]()))

    static let header = ["id", "phase", "done", "rate", "left", "note"]

    init(json: Bool) { (self.json, redraws) = (json, !json && Terminal.takesTable) }

    func show(_ states: [TransferState]) {
        shown.withLock { shown in
            if redraws {
                // Back to the first line; what follows it is cleared.
                if shown.lines > 0 { Output.write("\u{1B}[\(shown.lines)A\u{1B}[J", to: STDOUT_FILENO) }
                let size = Terminal.size(of: STDOUT_FILENO), table = Self.table(states, size.columns, size.rows)
                for state in states where state.phase.isFinal { Output.line(Self.line(state)) }
                for line in table { Output.line(line) }
                shown.lines = table.count
            } else {
                var steps: [String: String] = [:]
                for state in states {
                    let step = state.progress.map { Int64($0 * 10) } ?? state.bytes >> 24
                    steps[state.id] = "\(state.phase) \(step)"
                    guard shown.steps[state.id] != steps[state.id] else { continue }
                    Output.line(json ? TransferPrinter.json(state) : Self.line(state))
                }
                shown.steps = steps
            }
        }
    }

    /// Returns the lines of the table of unfinished transfers, limited to those that fit on the terminal.
    static func table(_ states: [TransferState], _ columns: Int, _ rows: Int) -> [String] {
        let open = states.filter { !$0.phase.isFinal }, room = max(1, rows - 2)
        guard !open.isEmpty else { return [] }
        let listed = open.count > room ? Array(open.prefix(max(1, room - 1))) : open
        var lines = Table(header, Self.rows(listed).map { $0.map { Span($0) } }).lines(colour: false)
        if listed.count < open.count { lines.append("… and \(open.count - listed.count) more") }
        return lines.map { $0.fitted(to: columns - 1) }
    }

    static func rows(_ states: [TransferState]) -> [[String]] {
        states.map { state in
            [
                state.id.printable.shortened(to: 60), state.phase.rawValue, done(state),
                state.rate.map { "\(Figure.bytes(Int($0)))/s" } ?? "",
                state.timeLeft.map { TransferPrinter.time($0) } ?? "", note(state).printable.shortened(to: 80),
            ]
        }
    }

    /// Returns the line for a transfer.
    static func line(_ state: TransferState) -> String {
        let note = note(state)
        return
            "\(state.id.printable): \(state.phase.rawValue), \(done(state))\(note.isEmpty ? "" : ", ")\(note.printable)"
    }

    private static func done(_ state: TransferState) -> String {
        guard let total = state.total, let progress = state.progress else { return Figure.bytes(Int(state.bytes)) }
        return "\(Int(progress * 100)) % of \(Figure.bytes(Int(total)))"
    }

    private static func note(_ state: TransferState) -> String {
        state.error?.message ?? state.file ?? state.restart.map { "restarted, because \($0.explanation)" } ?? ""
    }
}
