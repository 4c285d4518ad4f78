import Backplane
import BackplaneHost
import BackplaneTerminal
import Foundation

/// Writes what is to be printed, in its order, on a thread of its own: who decides never waits for who reads.
final class DevWriter: Sendable {
    private typealias Line = (text: String, descriptor: Int32)

    private struct State {
        var lines: [Line] = []
        /// How much the lines of the application are that nobody has taken yet.
        var passedOn = 0
        /// How far something is, at the end of what is printed.
        var progress = ""
        /// Lines are being written.
        var isWriting = false
        var isEnding = false
        var isWritten: Bool { lines.isEmpty && !isWriting }
    }
    private let state = Monitor(State())

    /// - Parameter showsProgress: a person watches standard error.
    init(showsProgress: Bool) {
        let state = state, progress = showsProgress ? ProgressLine() : nil
        Thread.detachNewThread {
            var shown = ""
            while true {
                let (lines, text) = state.wait { state -> Monitor<State>.Wait<([Line], String)> in
                    guard !state.lines.isEmpty || state.progress != shown else { return .until(nil) }
                    state.isWriting = true
                    defer { (state.lines, state.passedOn) = ([], 0) }
                    return .done((state.lines, state.progress))
                }
                if shown != "", !lines.isEmpty { progress?.clear() }
                for line in lines { Output.line(line.text, to: line.descriptor) }
                progress?.show(text)
                shown = text
                state.withLock { $0.isWriting = false }
            }
        }
    }

    /// Never waits.
    func write(_ lines: [String]) {
        state.withLock { $0.lines += lines.map { ($0, STDOUT_FILENO) } }
    }

    /// A line of the application, which waits here while much is unread, as it would at the terminal. In the end it is dropped instead.
    func passOn(_ line: String, to descriptor: Int32) {
        state.wait { state in
            guard state.passedOn < Self.room else { return state.isEnding ? .done(()) : .until(nil) }
            state.lines.append((line, descriptor))
            state.passedOn += line.utf8.count + 1
            return .done(())
        }
    }

    /// What is shown from now on at the end of what is printed; nothing where that is empty.
    func show(_ progress: String) {
        state.withLock { $0.progress = progress }
    }

    /// Nothing is waited for any more.
    func beginToEnd() {
        state.withLock { $0.isEnding = true }
    }

    /// Waits until all is written, for as long as somebody reads.
    ///
    /// - Returns: whether it is.
    func finish() -> Bool {
        let end = Deadline.now + Self.patience
        return state.wait { $0.isWritten ? .done(true) : Deadline.now >= end ? .done(false) : .until(end) }
    }

    /// In bytes.
    private static let room = 1 << 20
    private static let patience = Duration.seconds(2)
}
