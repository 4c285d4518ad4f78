import Synchronization

/// What a program has printed, line by line.
final class SaidLines: Sendable {
    private let lines = Mutex((output: [String](), errors: [String]()))

    var text: (output: [String], errors: [String]) { lines.withLock { $0 } }

    func output(_ line: String) { lines.withLock { $0.output.append(line) } }
    func error(_ line: String) { lines.withLock { $0.errors.append(line) } }
}
