public import Backplane

/// The versions a user accepts: an interval such as `[1.2,2.0)`, where a bracket includes its end and a parenthesis does not.
///
/// An end may be left out: `[1.2,)` is 1.2 and everything after it. `[1.2]` is exactly 1.2.0.
public struct VersionRange: Sendable, Hashable {
    /// One end of the interval.
    public struct Bound: Sendable, Hashable {
        public var version: Version
        public var isIncluded: Bool

        public init(_ version: Version, isIncluded: Bool) {
            (self.version, self.isIncluded) = (version, isIncluded)
        }
    }

    public let lower: Bound?
    public let upper: Bound?

    public init(lower: Bound?, upper: Bound?) {
        (self.lower, self.upper) = (lower, upper)
    }

    /// Why a text is not a range, as a sentence that says what to write instead.
    public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String
    }

    public init(_ text: String) throws(Malformed) {
        if let version = Version(text) {
            let hint = "`\(text)` is one version, not a range; write `[\(text),\(version.major + 1).0)` for every compatible version, or `[\(text)]` for this one alone"
            throw Malformed(description: hint)
        }
        guard let first = text.first, let last = text.last, text.count > 2, "[(".contains(first), "])".contains(last) else {
            throw Malformed(description: "`\(text)` is not a version range; write an interval such as `[1.2,2.0)`")
        }
        let ends = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
        func bound(_ end: Substring, _ isIncluded: Bool) throws(Malformed) -> Bound? {
            let end = end.trimmingSpaces
            guard !end.isEmpty else { return nil }
            guard let version = Version(end) else {
                throw Malformed(description: "`\(end)` in `\(text)` is not a version; write numbers with dots, such as 1.2.0")
            }
            return Bound(version, isIncluded: isIncluded)
        }
        switch ends.count {
        case 1:
            guard first == "[", last == "]", let only = try bound(ends[0], true) else {
                throw Malformed(description: "`\(text)` is not a version range; one version alone is written `[1.2]`")
            }
            self.init(lower: only, upper: only)
        case 2:
            self.init(lower: try bound(ends[0], first == "["), upper: try bound(ends[1], last == "]"))
        default:
            throw Malformed(description: "`\(text)` is not a version range; an interval has two ends, such as `[1.2,2.0)`")
        }
        if let lower, let upper, lower.version > upper.version || (lower.version == upper.version && !(lower.isIncluded && upper.isIncluded)) {
            throw Malformed(description: "no version is in `\(text)`: its lower end is not below its upper end")
        }
    }

    public func contains(_ version: Version) -> Bool {
        if let lower, version < lower.version || (version == lower.version && !lower.isIncluded) { return false }
        if let upper, version > upper.version || (version == upper.version && !upper.isIncluded) { return false }
        return true
    }
}

extension VersionRange: CustomStringConvertible {
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
