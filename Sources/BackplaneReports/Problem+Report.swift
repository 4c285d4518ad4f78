import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTerminal

extension Problem {
    /// A line as compilers print it, `file:line:column: error: message`, and what is behind it.
    package func report(in manifest: String, colour: Bool = false) -> String {
        let place = position.map { "\(manifest):\($0.line):\($0.column)" } ?? manifest
        // What is malformed says its position itself, for those who get nothing but the error.
        let message = position.map { error.message.dropPrefix("\($0): ") } ?? error.message
        let path = error.location.flatMap { $0 == manifest || $0.isEmpty ? nil : " \($0.printable):" } ?? ""
        let causes = error.causes.flatMap(\.reportLines).map { "\n  " + $0 }.joined()
        let kind = Span(severity.rawValue, severity == .error ? .bad : .doubtful), code = Span("[\(error.code)]", .faint)
        return ["\(place): ", kind, ":\(path) \(message.printable) ", code, "\(causes)"].text(colour: colour)
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
