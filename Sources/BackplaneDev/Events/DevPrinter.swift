import BackplaneReports
import BackplaneTerminal
import Foundation

/// Prints events: a line of JSON each, or what a person reads.
struct DevPrinter: Sendable {
    let json: Bool
    /// What the application prints comes this way too: among the events, or to where a person sees how far a build is.
    private let passesOutputOn: Bool
    private let writer: DevWriter

    init(json: Bool) {
        let showsProgress = !json && Terminal.takesProgress
        (self.json, passesOutputOn, writer) = (json, json || showsProgress, DevWriter(showsProgress: showsProgress))
    }

    func print(_ event: DevEvent) {
        let now = Date().timeIntervalSince1970
        writer.write(json ? [event.json(at: now)] : event.lines(at: String(Figure.time(now).suffix(8)), colour: Terminal.wantsColour))
    }

    /// Takes the lines of the application; `nil`: they go where this process's go.
    var passOn: (@Sendable (String, _ isError: Bool) -> Void)? {
        guard passesOutputOn else { return nil }
        return { output($0, isError: $1) }
    }

    /// Waits while much is unread.
    private func output(_ text: String, isError: Bool) {
        guard json else { return writer.passOn(text, to: isError ? STDERR_FILENO : STDOUT_FILENO) }
        let line = DevEvent.Line(stream: isError ? .errors : .output, text: text)
        writer.passOn(DevEvent.output(line).json(at: Date().timeIntervalSince1970), to: STDOUT_FILENO)
    }

    /// How far a build is, where a person watches.
    func progress(_ text: String) {
        if !json { writer.show(text.printable.shortened(to: Terminal.columns - 1)) }
    }

    func clearProgress() { progress("") }

    /// What a person may do.
    func hint(_ text: String) {
        if !json { writer.write(["          " + Span(text, .faint).text(colour: Terminal.wantsColour)]) }
    }

    /// Nobody is to wait any more for who reads.
    func beginToEnd() { writer.beginToEnd() }

    /// - Returns: was all printed?
    func finish() -> Bool { writer.finish() }
}
