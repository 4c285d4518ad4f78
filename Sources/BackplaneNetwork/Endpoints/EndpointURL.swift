import Backplane
import FoundationEssentials

/// The rules for combining a base URL and the path of an endpoint.
package enum EndpointURL {
    /// Returns the URL of a path below a base URL, joined by exactly one slash, with the queries of both.
    ///
    /// - Throws: `network.invalid-request`.
    static func join(
        _ base: String?, _ path: String, _ query: [(name: String, value: String)], allowsFullURL: Bool
    ) throws(BackplaneError) -> String {
        let isFull = hasScheme(path)
        guard !isFull || allowsFullURL else {
            throw invalid(
                "the path of an endpoint is relative to the base URL, but this is a full URL; set `allowsFullURL` to load it",
                HTTPRequest("GET", path).printableURL)
        }
        let (head, baseQuery) = split(isFull ? "" : base ?? ""), (tail, ownQuery) = split(path)
        guard isFull || base != nil else {
            throw invalid(
                "the endpoint's path is relative, and the client has no base URL; set `defaults.baseURL`", tail)
        }
        guard isFull || !hasDotSegment(tail) else {
            throw invalid("the endpoint's path has a segment `.` or `..`, which could escape the base URL", tail)
        }
        var url = isFull ? encoded(tail) : encoded(head.trimmingSlashes(atEnd: true))
        if !isFull, !tail.isEmpty { url += "/" + encoded(tail.trimmingSlashes(atEnd: false)) }
        let own = query.map { "\(encodedValue($0.name))=\(encodedValue($0.value))" }
        let queries = ([baseQuery, ownQuery].compactMap(\.self).map(encoded) + own).filter { !$0.isEmpty }
        if !queries.isEmpty { url += "?" + queries.joined(separator: "&") }
        guard PlainURL(url) != nil || URLComponents(string: url)?.scheme != nil else {
            throw invalid(
                "the base URL and the endpoint's path do not form a URL", HTTPRequest("GET", url).printableURL)
        }
        return url
    }

    /// Returns whether a string begins with a scheme and `//`, like a full URL.
    static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text.utf8[..<colon]
        return text.utf8[colon...].starts(with: "://".utf8) && scheme.first?.isASCIILetter == true
            && scheme.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    }

    /// Returns whether a server could interpret a segment as `.` or `..`, even if it is percent-encoded, ends at a
    /// backslash or has parameters.
    package static func hasDotSegment(_ path: String) -> Bool {
        // Bytes, since a slash with a combining mark is another character than a slash.
        var bytes = Array(path.utf8)
        // A server behind another one may decode the result again, so decoding is repeated until nothing changes.
        for round in 0... {
            guard let decoded = percentDecoded(bytes) else { break }
            guard round < 5 else { return true }
            bytes = decoded
        }
        return bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }

    /// Returns a path whose percent-encoded bytes are decoded; `nil` if it has none.
    private static func percentDecoded(_ path: [UInt8]) -> [UInt8]? {
        guard var index = path.firstIndex(of: UInt8(ascii: "%")) else { return nil }
        var decoded = Array(path[..<index])
        while index < path.count {
            if path[index] == UInt8(ascii: "%"), index + 2 < path.count, let high = path[index + 1].hexDigit,
                let low = path[index + 2].hexDigit
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(path[index])
                index += 1
            }
        }
        return decoded.count == path.count ? nil : decoded
    }

    /// Returns the part before the query, and the query; a fragment is dropped, because it is never sent.
    private static func split(_ text: String) -> (path: String, query: String?) {
        let sent = text[..<(text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)]
        guard let mark = sent.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(sent), nil) }
        return (String(sent[..<mark]), String(sent[sent.utf8.index(after: mark)...]))
    }

    /// Returns a string in which bytes that no URL may contain are percent-encoded (RFC 3986, section 2).
    private static func encoded(_ text: String) -> String {
        text.percentEncoding { $0.isUnreserved || "%:/?#[]@!$&'()*+,;=".utf8.contains($0) }
    }

    /// Returns a value with all bytes percent-encoded except unreserved ones.
    private static func encodedValue(_ text: String) -> String { text.percentEncoding(allBut: \.isUnreserved) }

    private static func invalid(_ why: String, _ location: String) -> BackplaneError {
        BackplaneError(.networkInvalidRequest, why, at: location)
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    fileprivate var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of the byte as a hexadecimal digit; `nil` if it is not one.
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// A Boolean value that indicates whether the byte is an unreserved character (RFC 3986, section 2.3).
    fileprivate var isUnreserved: Bool {
        isASCIILetter || isASCIIDigit || "-._~".utf8.contains(self)
    }
}

extension String {
    fileprivate func percentEncoding(allBut stays: (UInt8) -> Bool) -> String {
        if utf8.allSatisfy(stays) { return self }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            if stays(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate func trimmingSlashes(atEnd: Bool) -> String {
        var rest = self[...]
        while atEnd ? rest.last == "/" : rest.first == "/" {
            if atEnd { rest.removeLast() } else { rest.removeFirst() }
        }
        return String(rest)
    }
}
