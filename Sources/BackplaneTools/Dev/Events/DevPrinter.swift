import Foundation

/// A printer of events, as JSON lines or as text for the terminal.
struct DevPrinter: Sendable {
    let json: Bool
    /// A Boolean value that indicates whether the application's output passes through this printer.
    ///
    /// The printer turns the output into events, or prints it above the progress line.
    private let passesOutputOn: Bool
    /// A Boolean value that indicates whether there is no progress line, which each report would replace.
    let keepsEveryLine: Bool
    private let writer: DevWriter

    init(json: Bool) {
        let showsProgress = !json && Terminal.takesProgress
        (self.json, passesOutputOn, writer) = (json, json || showsProgress, DevWriter(showsProgress: showsProgress))
        keepsEveryLine = !showsProgress
    }

    func print(_ event: DevEvent) {
        let now = Date().timeIntervalSince1970
        writer.write(
            json
                ? [event.json(at: now)]
                : event.lines(at: String(Figure.time(now).suffix(8)), colour: Terminal.wantsColour))
    }

    /// A function that receives the application's output, or `nil` if it goes directly to the output of this process.
    var passOn: (@Sendable (String, _ isError: Bool) -> Void)? {
        guard passesOutputOn else { return nil }
        return { output($0, isError: $1) }
    }

    /// Prints a line of the application; blocks while too much output is unwritten.
    private func output(_ text: String, isError: Bool) {
        guard json else { return writer.passOn(text, to: isError ? STDERR_FILENO : STDOUT_FILENO) }
        let line = DevEvent.Line(stream: isError ? .errors : .output, text: text)
        writer.passOn(DevEvent.output(line).json(at: Date().timeIntervalSince1970), to: STDOUT_FILENO)
    }

    /// Shows the progress of a build at a terminal.
    func progress(_ text: String) {
        if !json { writer.show(text.printable.shortened(to: Terminal.columns - 1)) }
    }

    func clearProgress() { progress("") }

    /// Prints a hint about the keys.
    func hint(_ text: String) {
        if !json { writer.write(["          " + Span(text, .faint).text(colour: Terminal.wantsColour)]) }
    }

    /// Stops waiting for readers of the output.
    func beginToEnd() { writer.beginToEnd() }

    /// Waits until the output has been written.
    ///
    /// - Returns: A Boolean value that indicates whether all of it was written.
    func finish() -> Bool { writer.finish() }
}
