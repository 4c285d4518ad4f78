import Backplane
import BackplaneHost
import Foundation

/// A printer of events, as JSON lines or as text for the terminal.
///
/// It has its own queue and thread, so that the session never waits for readers of its output.
final class DevPrinter: Sendable {
    private typealias Line = (text: String, descriptor: Int32)

    private struct State {
        var lines: [Line] = []
        /// The size of the queued lines of the application, in bytes.
        var passedOn = 0
        /// The progress line below the output.
        var progress = ""
        var isWriting = false
        var isEnding = false
    }

    let json: Bool
    /// A Boolean value that indicates whether there is no progress line, which each report would replace.
    let keepsEveryLine: Bool
    private let state = Monitor(State())

    init(json: Bool) {
        let showsProgress = !json && Terminal.takesProgress
        (self.json, keepsEveryLine) = (json, !showsProgress)
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

    func print(_ event: DevEvent) {
        let now = Date().timeIntervalSince1970
        write(
            json
                ? [event.json(at: now)]
                : event.lines(at: String(Figure.time(now).suffix(8)), colour: Terminal.wantsColour))
    }

    private func write(_ lines: [String]) {
        state.withLock { $0.lines += lines.map { ($0, STDOUT_FILENO) } }
    }

    /// A function that receives the application's output, or `nil` if it goes directly to the output of this process.
    ///
    /// The output becomes events, or is printed above the progress line.
    var passOn: (@Sendable (String, _ isError: Bool) -> Void)? {
        guard json || !keepsEveryLine else { return nil }
        return { self.output($0, isError: $1) }
    }

    /// Queues a line of the application; blocks while too much output is unwritten, and drops the line during shutdown.
    private func output(_ text: String, isError: Bool) {
        let event = DevEvent.output(.init(stream: isError ? .errors : .output, text: text))
        let line =
            json
            ? (event.json(at: Date().timeIntervalSince1970), STDOUT_FILENO)
            : (text, isError ? STDERR_FILENO : STDOUT_FILENO)
        state.wait { state in
            guard state.passedOn < Self.room else { return state.isEnding ? .done(()) : .until(nil) }
            state.lines.append(line)
            state.passedOn += line.0.utf8.count + 1
            return .done(())
        }
    }

    /// Shows the progress of a build at a terminal.
    func progress(_ text: String) {
        let text = text.printable.fitted(to: Terminal.columns - 1)
        if !json { state.withLock { $0.progress = text } }
    }

    func clearProgress() { progress("") }

    /// Prints a hint about the keys.
    func hint(_ text: String) {
        if !json { write(["          " + Span(text, .faint).text(colour: Terminal.wantsColour)]) }
    }

    /// Stops waiting for readers of the output.
    func beginToEnd() { state.withLock { $0.isEnding = true } }

    /// Waits until everything has been written, for at most ten seconds, and returns whether it has.
    func finish() -> Bool {
        let end = Deadline.now + Self.patience
        return state.wait { state in
            state.lines.isEmpty && !state.isWriting ? .done(true) : Deadline.now >= end ? .done(false) : .until(end)
        }
    }

    /// The maximum size of the application's queued lines, in bytes.
    private static let room = 1 << 20
    private static let patience = Duration.seconds(10)
}

/// The pace of progress reports for readers that keep every line.
struct ProgressPace: Sendable {
    /// The minimum time between two reports, in seconds.
    let interval: Double
    private var last: Double?

    init(interval: Double) { self.interval = interval }

    /// Starts an activity, whose first report is not due until the interval has passed.
    mutating func begin(at time: Double) { last = time }

    /// Returns whether a report is due, and counts it if so.
    mutating func isDue(at time: Double) -> Bool {
        if let last, time - last < interval { return false }
        last = time
        return true
    }
}
