import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTerminal

extension Problem {
    /// Returns the problem as compilers print it, `file:line:column: error: message`, followed by its causes.
    package func report(in manifest: String, colour: Bool = false) -> String {
        let place = position.map { "\(manifest):\($0.line):\($0.column)" } ?? manifest
        // The message of a malformed manifest repeats the position, for readers who see only the error.
        let message = position.map { error.message.dropPrefix("\($0): ") } ?? error.message
        let path = error.location.flatMap { $0 == manifest || $0.isEmpty ? nil : " \($0.printable):" } ?? ""
        let causes = error.causes.flatMap(\.reportLines).map { "\n  " + $0 }.joined()
        let kind = Span(severity.rawValue, severity == .error ? .bad : .doubtful),
            code = Span("[\(error.code)]", .faint)
        return ["\(place): ", kind, ":\(path) \(message.printable) ", code, "\(causes)"].text(colour: colour)
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
