import Backplane
import BackplaneHost
import Foundation

/// A writer with its own queue and thread, so that the session never waits for readers of its output.
final class DevWriter: Sendable {
    private typealias Line = (text: String, descriptor: Int32)

    private struct State {
        var lines: [Line] = []
        /// The size of the queued lines of the application, in bytes.
        var passedOn = 0
        /// The progress line below the output.
        var progress = ""
        /// A Boolean value that indicates whether lines are being written.
        var isWriting = false
        var isEnding = false
        var isWritten: Bool { lines.isEmpty && !isWriting }
    }
    private let state = Monitor(State())

    /// Creates a writer and starts its thread.
    ///
    /// - Parameter showsProgress: A Boolean value that indicates whether to show a progress line on standard error.
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

    /// Queues lines; does not block.
    func write(_ lines: [String]) {
        state.withLock { $0.lines += lines.map { ($0, STDOUT_FILENO) } }
    }

    /// Queues a line of the application; blocks while too much output is unwritten, and drops the line during shutdown.
    func passOn(_ line: String, to descriptor: Int32) {
        state.wait { state in
            guard state.passedOn < Self.room else { return state.isEnding ? .done(()) : .until(nil) }
            state.lines.append((line, descriptor))
            state.passedOn += line.utf8.count + 1
            return .done(())
        }
    }

    /// Sets the progress line; an empty string removes it.
    func show(_ progress: String) {
        state.withLock { $0.progress = progress }
    }

    /// Begins the shutdown, after which nothing blocks.
    func beginToEnd() {
        state.withLock { $0.isEnding = true }
    }

    /// Waits until everything has been written, for at most ten seconds.
    ///
    /// - Returns: A Boolean value that indicates whether everything was written.
    func finish() -> Bool {
        let end = Deadline.now + Self.patience
        return state.wait { $0.isWritten ? .done(true) : Deadline.now >= end ? .done(false) : .until(end) }
    }

    /// The maximum size of the application's queued lines, in bytes.
    private static let room = 1 << 20
    private static let patience = Duration.seconds(10)
}
