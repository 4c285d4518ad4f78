import Backplane
import BackplaneNetwork
import BackplaneReports
import BackplaneTerminal
import Glibc
import Synchronization

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
