import Foundation

/// Prints events: a line of JSON each, or what a person reads.
struct DevPrinter: Sendable {
    var json: Bool
    private let progress = ProgressLine()

    init(json: Bool) { self.json = json }

    func print(_ event: DevEvent) {
        let now = Date().timeIntervalSince1970
        if json { return Output.line(DevEventLine(time: now, event: event).text) }
        let lines = event.lines(at: String(Figure.time(now).suffix(8)), colour: Terminal.wantsColour)
        guard !lines.isEmpty else { return }
        progress.clear()
        for line in lines { Output.line(line) }
    }

    /// How far a build is, where a person watches.
    func progress(_ text: String) {
        if !json { progress.show(text.printable.shortened(to: Terminal.columns - 1)) }
    }

    func clearProgress() {
        if !json { progress.clear() }
    }

    /// What a person may do.
    func hint(_ text: String) {
        guard !json else { return }
        progress.clear()
        Output.line("          " + Span(text, .faint).text(colour: Terminal.wantsColour))
    }
}
