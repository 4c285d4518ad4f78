import Backplane
public import BackplaneHost

/// All errors of a test's manifest, plugins and fakes, as one readable error.
public struct ManifestRefused: Error, Sendable, Hashable {
    /// The errors that were found.
    public let problems: [Problem]
}

extension ManifestRefused: CustomStringConvertible {
    /// A line for each error, with its causes indented below it.
    public var description: String {
        let head =
            problems.count == 1
            ? "there is a problem with the manifest" : "there are \(problems.count) problems with the manifest"
        let lines = problems.flatMap { $0.error.detailedDescription.split(separator: "\n") }
        return head + lines.map { "\n  \($0)" }.joined()
    }
}
