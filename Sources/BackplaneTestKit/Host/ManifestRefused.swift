import Backplane
public import BackplaneHost

/// All errors of a test's manifest, plugins and fakes, as one readable error.
public struct ManifestRefused: Error, Sendable, Hashable {
    /// The errors, except for probable consequences of other errors.
    public let problems: [Problem]
    /// The number of errors that are probably consequences of these.
    public let consequences: Int
    private let summary: String?

    /// Creates the error for the problems that a host has found; returns `nil` if none of them is an error.
    init?(_ found: [Problem]) {
        problems = found.causes.filter { $0.severity == .error }
        consequences = found.count - found.causes.count
        summary = found.summaryOfConsequences
        if problems.isEmpty { return nil }
    }
}

extension ManifestRefused: CustomStringConvertible {
    /// A line for each error, with its causes indented below it, and the number of consequential errors.
    public var description: String {
        let head =
            problems.count == 1
            ? "there is a problem with the manifest" : "there are \(problems.count) problems with the manifest"
        let lines = problems.flatMap { $0.error.detailedDescription.split(separator: "\n") }
        return head + (lines.map(String.init) + [summary].compactMap(\.self)).map { "\n  \($0)" }.joined()
    }
}
