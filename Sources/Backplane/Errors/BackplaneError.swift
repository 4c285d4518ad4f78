/// What every part of Backplane throws: a code to decide by, one line to read, where it is, and what it came from.
///
/// Crosses the boundary whole, so an error of a plugin reads the same in the host and in another plugin.
public struct BackplaneError: Error, Sendable, Equatable {
    /// What went wrong, in a form to compare: `error.code == .callDeadline`.
    public var code: Code
    /// What went wrong and what to do, in one line.
    public var message: String
    /// Where: a path in the manifest such as `/managers/LibraryManager/className`, in a value, or of a file.
    public var location: String?
    /// What a component said of its own error, where the code is `componentFailed`.
    public var failure: Failure?
    /// The errors this one came from.
    public var causes: [BackplaneError]

    public init(_ code: Code, _ message: String, at location: String? = nil, failure: Failure? = nil, causes: [BackplaneError] = []) {
        (self.code, self.message, self.location, self.failure, self.causes) = (code, message, location, failure, causes)
    }

    /// A component's own code and details, which its error gave by adopting ``ComponentError``.
    public struct Failure: Sendable, Equatable {
        public var code: String
        public var details: [String: String]

        public init(code: String, details: [String: String] = [:]) {
            (self.code, self.details) = (code, details)
        }
    }
}

extension BackplaneError: CustomStringConvertible {
    /// One line: location, code, message.
    public var description: String {
        let own = failure.map { " (\($0.code))" } ?? ""
        return (location.map { "\($0): " } ?? "") + "\(code)\(own): \(message)"
    }

    /// The error and everything it came from, a line each, indented.
    public var detailedDescription: String {
        lines(indent: "").joined(separator: "\n")
    }

    private func lines(indent: String) -> [String] {
        var lines = [indent + description]
        for (name, value) in (failure?.details ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append("\(indent)  \(name): \(value)")
        }
        return lines + causes.flatMap { $0.lines(indent: indent + "  ") }
    }
}
