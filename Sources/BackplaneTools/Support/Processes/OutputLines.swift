import Synchronization

/// The lines that a program has printed.
package final class OutputLines: Sendable {
    private let lines = Mutex((output: [String](), errors: [String]()))

    package init() {}

    package var text: (output: [String], errors: [String]) { lines.withLock { $0 } }

    package func output(_ line: String) { lines.withLock { $0.output.append(line) } }
    package func error(_ line: String) { lines.withLock { $0.errors.append(line) } }
}
