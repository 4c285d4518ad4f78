import Backplane
import BackplaneNetwork
import BackplaneReports
import BackplaneTerminal
import Glibc
import Synchronization

/// The transfers of a host: a table that is drawn again on a terminal, and otherwise a line for each change.
final class TransferTableView: Sendable {
    private let json: Bool
    /// The number of rows that are on the terminal, and the last line of each transfer.
    private let shown = Mutex((rows: 0, lines: [String: String]()))

    static let header = ["id", "phase", "done", "rate", "left", "note"]

    init(json: Bool) { self.json = json }

    func show(_ states: [TransferState]) {
        shown.withLock { shown in
            if !json, Terminal.takesProgress {
                // Back to the first row, and each is cleared to its end.
                if shown.rows > 0 {
                    Output.write(bytes: Array("\u{1B}[\(shown.rows)A\u{1B}[J".utf8), to: STDOUT_FILENO)
                }
                guard !states.isEmpty else { return shown.rows = 0 }
                let table = Table(Self.header, Self.rows(states).map { $0.map { Span($0) } })
                for row in table.lines(colour: false) { Output.line(row.shortened(to: Terminal.columns - 1)) }
                shown.rows = states.count + 1
            } else {
                var lines: [String: String] = [:]
                for state in states {
                    let step = state.progress.map { Int64($0 * 10) } ?? state.bytes >> 24
                    lines[state.id] = "\(state.phase) \(step)"
                    guard shown.lines[state.id] != lines[state.id] else { continue }
                    Output.line(json ? TransferPrinter.json(state) : Self.line(state))
                }
                shown.lines = lines
            }
        }
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

    /// A transfer in one line.
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
        state.error?.message ?? state.file ?? state.restart.map { "started over, since \($0.explanation)" } ?? ""
    }
}
