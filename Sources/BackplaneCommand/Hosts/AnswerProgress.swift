import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// What a host does for somebody who waits for it, on standard error, where a person watches and it takes a while.
final class AnswerProgress {
    private var text: String
    private let line = ProgressLine()
    private let begin = ContinuousClock.now
    private var isShown = false
    /// How long an answer may take before anything is said of it.
    private static let patience = Duration.seconds(1)

    init(_ text: String) { self.text = text }

    func report(_ event: ControlEvent) {
        text = event.text.printable
        tick()
    }

    func tick() {
        let time = ContinuousClock.now - begin
        guard time > Self.patience else { return }
        isShown = true
        line.show("\(text), \(time.components.seconds) s")
    }

    func clear() {
        if isShown { line.clear() }
    }
}
