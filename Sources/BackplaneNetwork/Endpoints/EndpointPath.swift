import Backplane

/// The path of an endpoint: text as it is written in a URL, or an array of segments.
///
/// ```swift
/// Endpoint<[Book]>("GET", "books?sort=title")
/// Endpoint<Loan>("GET", ["loans", id])
/// ```
///
/// In text, only characters that a URL cannot contain are percent-encoded. A value in an array is always one segment:
/// its `/`, `?`, `%` and other reserved characters are percent-encoded. An empty segment, `.` and `..` cannot be
/// encoded, so a load of an endpoint with such a segment fails.
public protocol EndpointPath: Sendable {
    /// The path as it is written in a URL.
    var endpointPath: String { get }
}

extension String: EndpointPath {
    /// The text itself.
    public var endpointPath: String { self }
}

extension Array: EndpointPath where Element == String {
    /// The fully percent-encoded segments, separated by slashes.
    public var endpointPath: String {
        // One empty segment differs from no segments, which mean the base URL.
        self == [""] ? "/" : map(\.percentEncodedValue).joined(separator: "/")
    }
}

/// The rules for combining a base URL and the path of an endpoint.
package enum EndpointURL {
    /// Returns the URL of a path below a base URL, joined by exactly one slash, with the queries of both.
    ///
    /// - Parameter isOfSegments: Whether the path consists of encoded segments, so that no server can decode it to
    ///   another path.
    static func join(
        _ base: String?, _ path: String, isOfSegments: Bool, _ query: [(name: String, value: String)],
        allowsFullURL: Bool
    ) throws(BackplaneError) -> String {
        let isFull = hasScheme(path)
        guard !isFull || allowsFullURL else {
            throw invalid(
                "the path of an endpoint is relative to the base URL, but this is a full URL; set `allowsFullURL` to load it",
                HTTPRequest("GET", path).printableURL)
        }
        let (tail, ownQuery) = split(path)
        guard let start = isFull ? path : base else {
            throw invalid(
                "the endpoint's path is relative, and the client has no base URL; set `defaults.baseURL`", tail)
        }
        guard var url = WebURL(start), !url.scheme.isEmpty else {
            throw invalid(
                "the base URL and the endpoint's path do not form a URL", HTTPRequest("GET", start).printableURL)
        }
        if !isFull {
            if isOfSegments {
                let segments = tail.isEmpty ? [] : tail.split(separator: "/", omittingEmptySubsequences: false)
                guard segments.allSatisfy({ !["", ".", ".."].contains($0) }) else {
                    throw invalid(
                        "the endpoint's path has an empty segment, `.` or `..`; expected names, or a path as text", tail
                    )
                }
            } else if hasDotSegment(tail) {
                throw invalid("the endpoint's path has a segment `.` or `..`, which could escape the base URL", tail)
            }
            if !tail.isEmpty {
                while url.path.hasSuffix("/") { url.path.removeLast() }
                url.path += "/" + WebURL.encodedPath(tail.utf8.drop { $0 == UInt8(ascii: "/") })
            }
            if let ownQuery { url.query = [url.query, ownQuery].joinedQuery }
        }
        let own = query.map { "\($0.name.percentEncodedValue)=\($0.value.percentEncodedValue)" }
        url.query = ([url.query] + own).joinedQuery
        return url.text
    }

    /// Returns whether a string begins with a scheme and `//`, like a full URL.
    static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text.utf8[..<colon].isScheme && text.utf8[colon...].starts(with: "://".utf8)
    }

    /// Returns whether a server could interpret a segment as `.` or `..`, even if it is percent-encoded, ends at a
    /// backslash or has parameters.
    package static func hasDotSegment(_ path: String) -> Bool {
        // Bytes, because a slash with a combining mark is a different character.
        var bytes = Array(path.utf8)
        // A server behind another one may decode the result again, so decoding is repeated until nothing changes.
        for round in 0... {
            let decoded = bytes.percentDecoded
            guard decoded.count < bytes.count else { break }
            guard round < 5 else { return true }
            bytes = decoded
        }
        return bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }

    /// Returns the part before the query, and the query; a fragment is dropped, because it is never sent.
    private static func split(_ text: String) -> (path: String, query: String?) {
        let sent = text[..<(text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)]
        guard let mark = sent.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(sent), nil) }
        let query = Substring(sent.utf8[sent.utf8.index(after: mark)...])
        return (String(Substring(sent.utf8[..<mark])), WebURL.encodedQuery(query.utf8))
    }

    private static func invalid(_ why: String, _ location: String) -> BackplaneError {
        BackplaneError(.networkInvalidRequest, why, at: location)
    }
}

extension [String?] {
    fileprivate var joinedQuery: String? {
        let parts = compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: "&")
    }
}
