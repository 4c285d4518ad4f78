import Backplane

/// The pattern of a path, which consists of literal segments and parameters such as `:id`.
///
/// A pattern may end with the rest of the path, such as `*path`. Literals are written without percent-encoding.
package struct RoutePattern: Sendable {
    package enum Segment: Sendable, Equatable {
        case literal(String), parameter(String), rest(String)
    }
    package let text: String
    package let segments: [Segment]

    /// Parses a pattern.
    ///
    /// - Throws: ``Invalid`` with the reason.
    package init(_ text: String) throws(Invalid) {
        var segments: [Segment] = [], names: [String] = []
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw Invalid(reason: "expected a pattern that begins with `/`, found `\(text)`")
        }
        let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() where text != "/" {
            let segment = try Segment(String(Substring(part)))
            if let name = segment.name {
                guard !names.contains(name) else { throw Invalid(reason: "the parameter `\(name)` occurs twice") }
                names.append(name)
            }
            if case .rest(let name) = segment, index < parts.count - 1 {
                throw Invalid(reason: "`*\(name)` takes the rest of the path, and must be the last segment")
            }
            segments.append(segment)
        }
        (self.text, self.segments) = (text, segments)
    }

    package struct Invalid: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// The names of the parameters, in order.
    package var names: [String] { segments.compactMap(\.name) }

    /// The pattern without names: patterns of one shape match the same paths.
    package var shape: String {
        segments.isEmpty ? "/" : segments.map { "/" + $0.shape }.joined()
    }

    /// Returns the pattern of a route below a prefix, whose own pattern may be empty.
    package static func joined(_ prefix: String, _ pattern: String) -> String {
        let prefix = prefix == "/" ? "" : prefix
        if pattern.isEmpty || pattern == "/" { return prefix.isEmpty ? "/" : prefix }
        return pattern.hasPrefix("/") ? prefix + pattern : pattern
    }
}

extension RoutePattern.Segment {
    fileprivate init(_ text: String) throws(RoutePattern.Invalid) {
        let mark = text.utf8.first
        if mark == UInt8(ascii: ":") || mark == UInt8(ascii: "*") {
            let name = String(text.dropFirst())
            guard !name.isEmpty, name.allSatisfy({ $0 == "_" || $0.isLetter || $0.isNumber }) else {
                throw RoutePattern.Invalid(reason: "expected a name of letters and digits in `\(text)`")
            }
            self = mark == UInt8(ascii: ":") ? .parameter(name) : .rest(name)
            return
        }
        guard !text.isEmpty else {
            throw RoutePattern.Invalid(reason: "a pattern has no empty segments, and none after its last `/`")
        }
        guard text != ".", text != "..", !text.utf8.contains(where: { "%?#".utf8.contains($0) || $0 <= 0x20 }) else {
            throw RoutePattern.Invalid(
                reason: "no path has the segment `\(text)`; literals are written without percent-encoding")
        }
        self = .literal(text)
    }

    fileprivate var name: String? {
        switch self {
        case .literal: nil
        case .parameter(let name), .rest(let name): name
        }
    }

    fileprivate var shape: String {
        switch self {
        case .literal(let text): text
        case .parameter: ":"
        case .rest: "*"
        }
    }
}
