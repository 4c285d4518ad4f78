/// The error that every part of Backplane throws.
///
/// It has a code for programs, a message for people, a location and causes. It crosses the boundary unchanged, so that
/// a plugin's error reads the same in the host and in another plugin; only ``calls`` grows with each call that it ends.
public struct BackplaneError: Error, Sendable {
    /// The kind of the error, for comparison: `error.code == .callDeadline`.
    public var code: Code
    /// A description of the problem and its remedy, in one line.
    public var message: String
    /// The location of the error: a file, or a path in a value or manifest, such as
    /// `/managers/LibraryManager/className`.
    public var location: String?
    /// The component's own description of its error, if the code is `componentFailed`.
    public var failure: Failure?
    /// The errors that caused this one.
    public var causes: [BackplaneError]
    /// The calls that the error has ended, outermost first, each such as `Shelf.find (org.example.shelf)`: the
    /// component, the method and the plugin.
    ///
    /// The list has at most 16 entries, without those in the middle of a longer one, and for a cancelled call only one.
    public var calls: [String] = []

    /// Creates an error to throw or to report.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the problem and its remedy, in one line.
    ///   - location: A path in a manifest or value, or a file.
    ///   - failure: The component's own description of the error, with `componentFailed`.
    ///   - causes: The errors that caused this one.
    public init(
        _ code: Code, _ message: String, at location: String? = nil, failure: Failure? = nil,
        causes: [BackplaneError] = []
    ) {
        (self.code, self.message, self.location, self.failure, self.causes) = (code, message, location, failure, causes)
    }

    /// A component's own code and details, provided by an error that adopts ``ComponentError``.
    public struct Failure: Sendable, Equatable {
        /// The code that the component chose.
        public var code: String
        /// Further facts, keyed by name; a fact is confidential if its name begins with a dot.
        public var details: [String: String]

        /// Creates the part of an error that callers of the component compare.
        public init(code: String, details: [String: String] = [:]) {
            (self.code, self.details) = (code, details)
        }
    }
}

extension BackplaneError: Equatable {
    /// Returns whether two errors say the same, regardless of the ``calls`` that they have ended.
    public static func == (a: Self, b: Self) -> Bool {
        a.code == b.code && a.message == b.message && a.location == b.location && a.failure == b.failure
            && a.causes == b.causes
    }
}

extension BackplaneError {
    /// Returns the error of a call that another error has ended.
    ///
    /// - Parameter call: The name of the call, for ``calls``.
    package func of(call: String) -> BackplaneError {
        var error = self
        if code == .callCancelled { error.calls = [] }  // as in EncodedAnswer
        error.calls.insert(call, at: 0)
        if error.calls.count > 16 { error.calls.replaceSubrange(8...9, with: ["…"]) }
        return error
    }
}

extension BackplaneError: CustomStringConvertible {
    /// The calls, location, code and message, in one line.
    public var description: String {
        let path = calls.isEmpty ? "" : calls.joined(separator: " → ") + ": "
        let own = failure.map { " (\($0.code))" } ?? ""
        return path + (location.map { "\($0): " } ?? "") + "\(code)\(own): \(message)"
    }

    /// The error and all its causes, indented, with one line each, and without confidential details.
    public var detailedDescription: String {
        lines(indent: "") { failure in failure.shownDetails }.joined(separator: "\n")
    }

    /// The error and all its causes, indented, with all details, which may contain secrets.
    public var expandedDescription: String {
        lines(indent: "") { failure in failure.details.sorted { $0.key < $1.key } }.joined(separator: "\n")
    }

    private func lines(
        indent: String, _ details: (Failure) -> [(key: String, value: String)]
    ) -> [String] {
        let own = failure.map(details) ?? []
        return [indent + description] + own.map { "\(indent)  \($0.key): \($0.value)" }
            + causes.flatMap { $0.lines(indent: indent + "  ", details) }
    }
}

extension BackplaneError: CustomDebugStringConvertible {
    /// The ``detailedDescription``, which Swift prints for an uncaught error.
    public var debugDescription: String { detailedDescription }
}

extension BackplaneError.Failure {
    /// The details that are not confidential, sorted by name.
    package var shownDetails: [(key: String, value: String)] {
        details.filter { !$0.key.hasPrefix(".") }.sorted { $0.key < $1.key }
    }
}
