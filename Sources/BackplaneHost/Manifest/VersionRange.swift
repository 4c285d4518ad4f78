public import Backplane

/// An interval of accepted versions such as `[1.2,2.0)`; a bracket includes its bound, a parenthesis excludes it.
///
/// A bound may be omitted: `[1.2,)` means 1.2 and everything after it. `[1.2]` means exactly 1.2.0.
public struct VersionRange: Sendable, Hashable {
    /// One end of the interval.
    public struct Bound: Sendable, Hashable {
        /// The version at this end of the interval.
        public var version: Version
        /// A Boolean value that indicates whether the interval contains the version itself.
        public var isIncluded: Bool

        /// Creates one end of an interval.
        public init(_ version: Version, isIncluded: Bool) {
            (self.version, self.isIncluded) = (version, isIncluded)
        }
    }

    /// The lower bound; `nil` if there is none.
    public let lower: Bound?
    /// The upper bound; `nil` if there is none.
    public let upper: Bound?

    /// Creates a range from its bounds.
    public init(lower: Bound?, upper: Bound?) {
        (self.lower, self.upper) = (lower, upper)
    }

    /// Creates a range from its notation, such as `[1.2,2.0)`.
    ///
    /// - Throws: `version.malformed` for any other string, including a single version without brackets and a range that
    ///   contains no version.
    public init(_ text: String) throws(BackplaneError) {
        if let version = Version(text) {
            let hint =
                "`\(text)` is one version, not a range; write `[\(text),\(version.major + 1).0)` for every compatible version, or `[\(text)]` for this one alone"
            throw Self.malformed(hint)
        }
        guard let first = text.first, let last = text.last, text.count > 2, "[(".contains(first), "])".contains(last)
        else {
            throw Self.malformed("`\(text)` is not a version range; write an interval such as `[1.2,2.0)`")
        }
        let ends = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
        func bound(_ end: Substring, _ isIncluded: Bool) throws(BackplaneError) -> Bound? {
            let end = end.trimmingSpaces
            guard !end.isEmpty else { return nil }
            guard let version = Version(end) else {
                throw Self.malformed(
                    "`\(end)` in `\(text)` is not a version; write numbers with dots, such as 1.2.0")
            }
            return Bound(version, isIncluded: isIncluded)
        }
        switch ends.count {
        case 1:
            guard first == "[", last == "]", let only = try bound(ends[0], true) else {
                throw Self.malformed("`\(text)` is not a version range; one version alone is written `[1.2]`")
            }
            self.init(lower: only, upper: only)
        case 2:
            self.init(lower: try bound(ends[0], first == "["), upper: try bound(ends[1], last == "]"))
        default:
            throw Self.malformed(
                "`\(text)` is not a version range; an interval has two ends, such as `[1.2,2.0)`")
        }
        if let lower, let upper,
            lower.version > upper.version || (lower.version == upper.version && !(lower.isIncluded && upper.isIncluded))
        {
            throw Self.malformed("no version is in `\(text)`: its lower end is not below its upper end")
        }
    }

    private static func malformed(_ words: String) -> BackplaneError { BackplaneError(.versionMalformed, words) }

    /// Returns whether the range contains a version.
    public func contains(_ version: Version) -> Bool {
        if let lower, version < lower.version || (version == lower.version && !lower.isIncluded) { return false }
        if let upper, version > upper.version || (version == upper.version && !upper.isIncluded) { return false }
        return true
    }
}

extension VersionRange: ExpressibleByStringLiteral {
    /// Creates a range from a literal such as `"[1.2,2.0)"`.
    ///
    /// - Precondition: The literal is a range as ``init(_:)`` reads it.
    public init(stringLiteral text: String) {
        do { try self.init(text) } catch { preconditionFailure(error.message) }
    }
}

extension VersionRange: CustomStringConvertible {
    /// The range in its notation, such as `[1.2.0,2.0.0)`.
    public var description: String {
        if let lower, lower == upper { return "[\(lower.version)]" }
        let from = lower.map { ($0.isIncluded ? "[" : "(") + "\($0.version)" } ?? "("
        let to = upper.map { "\($0.version)" + ($0.isIncluded ? "]" : ")") } ?? ")"
        return "\(from),\(to)"
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
