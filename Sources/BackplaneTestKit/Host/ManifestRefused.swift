import Backplane
public import BackplaneHost

/// Everything that is wrong with a test's manifest, plugins and fakes, as one error to read.
public struct ManifestRefused: Error, Sendable, Hashable {
    public let problems: [Problem]
}

extension ManifestRefused: CustomStringConvertible {
    /// A line for each problem, and indented what it came from.
    public var description: String {
        let head = problems.count == 1 ? "there is a problem with the manifest" : "there are \(problems.count) problems with the manifest"
        let lines = problems.flatMap { $0.error.detailedDescription.split(separator: "\n") }
        return head + lines.map { "\n  \($0)" }.joined()
    }
}
