import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// A progress line on standard error for a host's slow answer, shown only at a terminal.
final class AnswerProgress {
    private var text: String
    private let line = ProgressLine()
    private let begin = ContinuousClock.now
    private var isShown = false
    private var hasEnded = false
    /// The delay after which the line appears.
    private static let patience = Duration.seconds(1)

    init(_ text: String) { self.text = text }

    func report(_ event: ControlEvent) {
        text = event.text.printable
        tick()
    }

    func tick() {
        let time = ContinuousClock.now - begin
        guard time > Self.patience, !hasEnded else { return }
        isShown = true
        line.show("\(text), \(time.components.seconds) s")
    }

    /// Removes the line permanently.
    func end() {
        clear()
        (isShown, hasEnded) = (false, true)
    }

    func clear() {
        if isShown { line.clear() }
    }
}
