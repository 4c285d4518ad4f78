package import Backplane
package import BackplaneDocuments
package import BackplaneHost

extension BackplaneError {
    /// The error and its causes, one line each, indented.
    ///
    /// Control characters in quoted text are escaped, so that the text cannot start a new line. The output of another
    /// program keeps its layout.
    package var reportLines: [String] {
        let details = (failure?.shownDetails ?? []).map { "\($0.key): \($0.value)".printable }
        return [description.printable.namingOptions]
            + (details + withoutSaid.causes.flatMap(\.reportLines)).map { "  " + $0 }
            + said.map(\.printableWithTabs)
    }
}

extension BackplaneError.Code {
    /// The code of a line printed by another program, such as a compiler, which is displayed without a code.
    package static let said = Self(rawValue: "said")
}

extension BackplaneError {
    /// Creates an error that carries the output of another program.
    ///
    /// - Parameter lines: The lines that the other program printed about the error.
    package init(_ code: Code, _ message: String, at location: String?, saying lines: [String]) {
        self.init(code, message, at: location, causes: lines.map { BackplaneError(.said, $0) })
    }

    /// The lines that another program printed about the error, unchanged.
    package var said: [String] { causes.filter { $0.code == .said }.map(\.message) }

    /// The error without the output of another program.
    package var withoutSaid: BackplaneError {
        var error = self
        error.causes.removeAll { $0.code == .said }
        return error
    }

    /// Returns the error with words added to its message.
    package func adding(_ words: String, code: Code? = nil) -> BackplaneError {
        BackplaneError(code ?? self.code, message + words, at: location, failure: failure, causes: causes)
    }
}

extension Problem {
    /// Returns the problem as compilers print it, `file:line:column: error: message`, followed by its causes.
    package func report(in manifest: String, colour: Bool = false) -> String {
        if let other = placeInDefinition {
            var problem = self
            problem.error.location = other.pointer
            problem.position = other.position
            return problem.report(in: other.file, colour: colour)
        }
        let place = position.map { "\(manifest):\($0.line):\($0.column)" } ?? manifest
        // The message of a malformed manifest repeats the position, for readers who see only the error.
        let message = position.map { error.message.dropPrefix("\($0): ") } ?? error.message
        let path = error.location.flatMap { $0 == manifest || $0.isEmpty ? nil : " \($0.printable):" } ?? ""
        let causes = error.causes.flatMap(\.reportLines).map { "\n  " + $0 }.joined()
        let kind = Span(severity.rawValue, severity == .error ? .bad : .doubtful),
            code = Span("[\(error.code)]", .faint)
        return ["\(place): ", kind, ":\(path) \(message.printable.namingOptions) ", code, "\(causes)"].text(
            colour: colour)
    }
}

extension Problem {
    /// The place of a problem in the file with a web service's definition: `file:line:column: pointer`.
    package var placeInDefinition: (file: String, position: SourcePosition, pointer: String?)? {
        guard error.code.rawValue.hasPrefix("definition."), let location = error.location,
            let match = location.wholeMatch(of: /(.+?):([0-9]+):([0-9]+)(?:: (.*))?/),
            let line = Int(match.2), let column = Int(match.3)
        else { return nil }
        return (String(match.1), SourcePosition(line: line, column: column), match.4.map(String.init))
    }
}

extension [Problem] {
    /// The maximum number of errors, and of warnings, that are listed in text output.
    private static var listed: Int { 100 }

    /// The problems to list in text output: the first errors and the first warnings, in order.
    package var shortList: [Problem] {
        var counts: [Problem.Severity: Int] = [:]
        return filter { problem in
            counts[problem.severity, default: 0] += 1
            return counts[problem.severity, default: 0] <= Self.listed
        }
    }

    /// The summary of the problems that the short list omits; `nil` if it omits none.
    package var summaryOfRest: String? {
        let rest = Problem.Severity.allCases.flatMap { severity in
            filter { $0.severity == severity }.dropFirst(Self.listed)
        }
        guard !rest.isEmpty else { return nil }
        return "and \(counted(rest.count, "more problem")): \(BackplaneError.Code.counts(in: rest.map(\.error)))"
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
