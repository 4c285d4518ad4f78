import FoundationEssentials

/// The parts of a URL or a relative reference as they are sent (RFC 3986), percent-encoded only where necessary.
///
/// Percent-encoded bytes remain as they are written. The fragment is dropped, because it is never sent.
package struct WebURL: Sendable, Equatable {
    /// The scheme in lower case; empty in a relative reference.
    package var scheme = ""
    /// The percent-encoded user and password, as in `ann:secret`.
    package var userInfo: String?
    /// The host, encoded for DNS if it is an international name, and in brackets if it is an address of IPv6.
    package var host: String?
    package var port: Int?
    package var path = ""
    package var query: String?

    /// Parses a URL or a relative reference; returns `nil` if its authority is invalid.
    package init?(_ text: String) {
        var rest = text[...].utf8
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = Self.encodedQuery(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[..<colon].isScheme {
            scheme = Substring(rest[..<colon]).lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            guard readAuthority(rest[..<end]) else { return nil }
            rest = rest[end...]
        }
        path = Self.encodedPath(rest)
    }

    static func encodedPath(_ path: Substring.UTF8View) -> String { path.percentEncoded(besides: .path) }

    static func encodedQuery(_ query: Substring.UTF8View) -> String { query.percentEncoded(besides: .query) }

    /// Reads the user, the host and the port; returns `false` if they are invalid.
    private mutating func readAuthority(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            guard !rest[..<at].contains(UInt8(ascii: "\\")) else { return false }
            userInfo = rest[..<at].percentEncoded(besides: .userInfo)
            rest = rest[rest.index(after: at)...]
        }
        var name = rest
        if rest.first == UInt8(ascii: "[") {
            guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            name = rest[...bracket]
            guard name.dropFirst().dropLast().allSatisfy({ $0.hexDigit != nil || ":.".utf8.contains($0) }) else {
                return false
            }
            host = String(Substring(name))
        } else {
            name = rest[..<(rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex)]
            guard let host = Self.hostName(Substring(name)) else { return false }
            self.host = host
        }
        rest = rest[name.endIndex...]
        guard let colon = rest.popFirst() else { return true }
        guard colon == UInt8(ascii: ":"), rest.allSatisfy(\.isDigit), rest.count < 10 else { return false }
        port = Int(Substring(rest))
        return true
    }

    /// Returns a host name encoded for DNS; `nil` if it contains an invalid character.
    private static func hostName(_ name: Substring) -> String? {
        func isName(_ text: String) -> Bool { text.utf8.allSatisfy(ByteSet.name.contains) }
        let name = String(name)
        if isName(name) { return name }
        guard let decoded = String(validating: name.percentDecoded, as: UTF8.self) else { return nil }
        if isName(decoded) { return decoded }
        guard !decoded.utf8.allSatisfy({ $0 < 0x80 }),
            let host = URLComponents(string: "https://\(decoded)/")?.encodedHost
        else { return nil }
        return isName(host) ? host : nil
    }

    package var text: String {
        var text = scheme.isEmpty ? "" : "\(scheme):"
        if host != nil { text += "//\(userInfo.map { "\($0)@" } ?? "")\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        return text
    }

    package var authority: String { (host ?? "") + (port.map { ":\($0)" } ?? "") }

    package var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }

    /// The decoded user and password; `nil` without a user.
    package var credentials: (user: String, password: String)? {
        guard let userInfo else { return nil }
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        func decoded(_ part: Substring) -> String { String(decoding: String(part).percentDecoded, as: UTF8.self) }
        return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
    }

    /// Returns the target of a reference, such as one in a `Location` or a `Link` (RFC 3986, section 5.2).
    ///
    /// Returns `nil` for text that is not a reference, or whose bytes were not UTF-8: a header field loses such bytes.
    package func resolving(_ reference: String) -> WebURL? {
        guard !reference.unicodeScalars.contains("\u{FFFD}"), var url = WebURL(reference.trimmingBlanks) else {
            return nil
        }
        if url.scheme.isEmpty {
            url.scheme = scheme
            if url.host == nil {
                (url.userInfo, url.host, url.port) = (userInfo, host, port)
                if url.path.isEmpty {
                    (url.path, url.query) = (path, url.query ?? query)
                    return url
                }
                if !url.path.hasPrefix("/") {
                    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? (host == nil ? "" : "/")
                    url.path = folder + url.path
                }
            }
        }
        url.path = url.path.withoutDotSegments
        return url
    }
}

/// The origin of a URL: scheme, host and port, which determine who receives credentials (RFC 6454, section 4).
package struct HTTPOrigin: Equatable, Sendable {
    package let scheme: String
    /// The host in lower case, encoded for DNS if it is an international name, without a trailing dot.
    package let host: String
    package let port: Int

    /// Creates the origin of an `http:` or `https:` URL; returns `nil` for any other.
    package init?(_ url: String) {
        guard let url = WebURL(url) else { return nil }
        self.init(url)
    }

    package init?(_ url: WebURL) {
        guard ["http", "https"].contains(url.scheme), let host = url.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        scheme = url.scheme
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}

extension String {
    /// The host name and the port, if any, in the form of requests: in lower case, and encoded for DNS if it is an
    /// international name.
    package var hostKey: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return lowercased() }
        return (WebURL("//" + self)?.authority ?? self).lowercased()
    }

    /// The ``hostKey`` without a trailing dot, which requests do not have either.
    package var nameKey: String { hostKey.hasSuffix(".") ? String(hostKey.dropLast()) : hostKey }

    /// The text without spaces and tabs at both ends, which are not part of a field's value (RFC 9112, section 5).
    package var trimmingBlanks: String { String(self[...].trimmingBlanks) }

    package var percentDecoded: [UInt8] { Array(utf8).percentDecoded }

    /// The text of a path's segment or a query's value, with all bytes percent-encoded except unreserved ones.
    package var percentEncodedValue: String {
        if utf8.allSatisfy(ByteSet.unreserved.contains) { return self }
        var bytes: [UInt8] = []
        for byte in utf8 {
            if ByteSet.unreserved.contains(byte) { bytes.append(byte) } else { bytes.append(percentEncoding: byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path without the segments `.` and `..` (RFC 3986, section 5.2.4).
    fileprivate var withoutDotSegments: String {
        var kept: [Substring] = []
        let segments = split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if kept.count > 1 || kept.first?.isEmpty == false { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }
}

extension Substring {
    package var trimmingBlanks: Substring {
        guard let start = utf8.firstIndex(where: { !$0.isBlank }), let last = utf8.lastIndex(where: { !$0.isBlank })
        else { return "" }
        return Substring(utf8[start...last])
    }
}

extension Substring.UTF8View {
    /// Returns the text with every byte percent-encoded that is neither in a set nor part of a percent-encoded byte
    /// (RFC 3986, section 2.4).
    fileprivate func percentEncoded(besides kept: ByteSet) -> String {
        if allSatisfy(kept.contains) { return String(Substring(self)) }
        var bytes: [UInt8] = [], rest = self
        while let byte = rest.popFirst() {
            let isTriplet = byte == UInt8(ascii: "%") && rest.prefix(2).count { $0.hexDigit != nil } == 2
            if isTriplet || kept.contains(byte) { bytes.append(byte) } else { bytes.append(percentEncoding: byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A Boolean value that indicates whether the text is a scheme (RFC 3986, section 3.1).
    var isScheme: Bool {
        first?.isASCIILetter == true && allSatisfy { $0.isASCIILetter || $0.isDigit || "+-.".utf8.contains($0) }
    }
}

private struct ByteSet {
    /// The characters that represent themselves everywhere in a URL (RFC 3986, section 2.3).
    static let unreserved = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    static let name = unreserved.adding("!$&'()*+,;=")
    static let userInfo = name.adding(":")
    static let path = userInfo.adding("/@")
    static let query = path.adding("?")
    private var low: UInt64 = 0, high: UInt64 = 0

    init(_ characters: String) {
        for byte in characters.utf8 { if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) } }
    }

    func adding(_ characters: String) -> ByteSet {
        var all = ByteSet(characters)
        (all.low, all.high) = (all.low | low, all.high | high)
        return all
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low >> byte & 1 == 1 : byte < 128 && high >> (byte - 64) & 1 == 1
    }
}

extension [UInt8] {
    mutating func append(percentEncoding byte: UInt8) {
        let digits = Array("0123456789ABCDEF".utf8)
        self += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    var percentDecoded: [UInt8] {
        guard var index = firstIndex(of: UInt8(ascii: "%")) else { return self }
        var decoded = Array(self[..<index])
        while index < count {
            if self[index] == UInt8(ascii: "%"), index + 2 < count, let high = self[index + 1].hexDigit,
                let low = self[index + 2].hexDigit
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(self[index])
                index += 1
            }
        }
        return decoded
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether tokens may contain the byte (RFC 9110, section 5.6.2).
    package var isTokenCharacter: Bool { isASCIILetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// The value of the byte as a hexadecimal digit; `nil` if it is not one.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
