public import Backplane
public import BackplaneDocuments

/// A problem of a manifest, by itself or with the plugins that it names.
public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The consequence of a problem.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// A problem that makes its part of the manifest unusable.
        case error
        /// A problem with a part of the manifest that works, but possibly not as intended.
        case warning
    }

    /// The consequence of the problem.
    public var severity: Severity
    /// The name of the manager that has the problem; `nil` if it concerns the whole manifest.
    public var manager: String?
    /// The problem itself, located by a JSON pointer such as `/managers/LibraryManager/className`.
    public var error: BackplaneError
    /// The position of the problem in the text, if the manifest was read from JSON.
    public var position: SourcePosition?
    /// A Boolean value that indicates whether the problem probably follows from another reported problem.
    public var isConsequence = false
    /// The path of the key that a misspelt key probably represents.
    var intended: DocumentPath?

    /// The severity, the position and the problem, in one line.
    public var description: String { "\(severity): \(position.map { "\($0): " } ?? "")\(error)" }

    /// Creates a problem of one manager, or of the whole manifest if `manager` is `nil`.
    public init(_ severity: Severity, manager: String?, _ error: BackplaneError, position: SourcePosition? = nil) {
        (self.severity, self.manager, self.error, self.position) = (severity, manager, error, position)
    }
}

extension BackplaneError {
    /// Returns several errors with one subject as a single error: the only one itself, or otherwise a summary.
    ///
    /// The combined error has the code of the first error; its causes are the first hundred errors and a summary of the
    /// others.
    ///
    /// - Precondition: `errors` is not empty.
    static func combining(_ errors: [BackplaneError], of subject: String, at location: String?) -> BackplaneError {
        guard errors.count > 1 else { return errors[0] }
        let rest = errors.dropFirst(Self.listedCauses), first = errors[0]
        let isOne = errors.allSatisfy { $0.code == first.code && $0.message == first.message }
        return BackplaneError(
            first.code, "\(subject) has \(errors.count) errors, \(isOne ? "each" : "the first"): \(first.message)",
            at: location,
            causes: errors.prefix(Self.listedCauses)
                + rest.prefix(1).map { BackplaneError($0.code, "and \(rest.count) more: \(Code.counts(in: rest))") })
    }

    private static let listedCauses = 100
}

extension BackplaneError.Code {
    /// Returns the number of errors for each code, the most frequent first: "9 `manager.cycle`, 2 `wire.unknown`".
    package static func counts(in errors: some Sequence<BackplaneError>) -> String {
        let counts = errors.reduce(into: [:]) { $0[$1.code.rawValue, default: 0] += 1 }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) `\($0.key)`" }
            .joined(separator: ", ")
    }
}

extension [Problem] {
    /// The problems that do not follow from others; all problems if that leaves no error.
    package var causes: [Problem] {
        let causes = filter { !$0.isConsequence }
        return causes.contains { $0.severity == .error } ? causes : self
    }

    /// A sentence that counts the errors that probably follow from others; `nil` if there are none.
    package var summaryOfConsequences: String? {
        let count = count - causes.count, errors = causes.count { $0.severity == .error }
        guard count > 0 else { return nil }
        return "\(count) more error\(count == 1 ? "" : "s") may follow from \(errors == 1 ? "it" : "these")"
    }

    /// The errors that do not follow from others.
    package var errors: [BackplaneError] { causes.filter { $0.severity == .error }.map(\.error) }

    /// The problems of the whole manifest, followed by those of each manager; each group is in the order of discovery.
    var grouped: [Problem] { sorted { ($0.manager ?? "") < ($1.manager ?? "") } }
}
