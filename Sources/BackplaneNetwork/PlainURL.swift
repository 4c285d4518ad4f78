package import FoundationEssentials

/// A URL that needs no decoding: a scheme of lower-case letters, a host name or an IPv4 address, and optionally a port
/// up to 65535, a path and a query, without user info, percent-encoding or a fragment.
///
/// Foundation's parser returns the same parts, but takes about 4,000 instructions more.
package struct PlainURL {
    /// The host, with the port if there is one.
    package let authority: Substring
    package let host: Substring
    package let hasQuery: Bool

    /// Creates the parts of a URL; returns `nil` if it is of another kind or not a URL.
    package init?(_ url: String) {
        var url = url
        guard let ends = url.withUTF8(Self.ends) else { return nil }
        let bytes = url.utf8
        func index(_ offset: Int) -> String.Index { bytes.index(bytes.startIndex, offsetBy: offset) }
        host = url[index(ends.start)..<index(ends.host)]
        authority = url[index(ends.start)..<index(ends.authority)]
        hasQuery = ends.hasQuery
    }

    /// Returns the positions at which the parts begin and end.
    private static func ends(
        of bytes: UnsafeBufferPointer<UInt8>
    ) -> (start: Int, host: Int, authority: Int, hasQuery: Bool)? {
        func end(from start: Int, _ belongs: (UInt8) -> Bool) -> Int {
            bytes[start...].firstIndex { !belongs($0) } ?? bytes.count
        }
        func has(_ byte: Unicode.Scalar, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: byte)
        }

        let scheme = end(from: 0, \.isLowerCaseLetter), start = scheme + 3
        guard scheme > 0, has(":", at: scheme), has("/", at: scheme + 1), has("/", at: scheme + 2) else { return nil }
        let host = end(from: start) { $0.isLetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        // Foundation decodes labels that are encoded for DNS, in which two hyphens follow each other (RFC 5891).
        guard host > start, !(start..<host).contains(where: { has("-", at: $0) && has("-", at: $0 + 1) }) else {
            return nil
        }
        var authority = host
        if has(":", at: host) {
            authority = end(from: host + 1, \.isDigit)
            guard (2...6).contains(authority - host), !has("0", at: host + 1),
                bytes[(host + 1)..<authority].reduce(0, { $0 * 10 + Int($1 - UInt8(ascii: "0")) }) <= UInt16.max
            else { return nil }
        }
        let rest = bytes[authority...]
        guard rest.isEmpty || has("/", at: authority) || has("?", at: authority),
            rest.allSatisfy(\.isWrittenPlainly)
        else { return nil }
        return (start, host, authority, rest.contains(UInt8(ascii: "?")))
    }
}

extension UInt8 {
    fileprivate var isLowerCaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isLetterOrDigit: Bool {
        isLowerCaseLetter || isDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    /// A Boolean value that indicates whether the byte represents itself in paths and queries (RFC 3986, appendix A).
    fileprivate var isWrittenPlainly: Bool {
        if isLetterOrDigit { return true }
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: ","),
            UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "*"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "@"):
            return true
        default: return false
        }
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
        guard let address = URLComponents(string: url), let scheme = address.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = address.asciiHost?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        port = address.port ?? (scheme == "https" ? 443 : 80)
    }
}

extension URLComponents {
    /// The host as manifests name it: an international name encoded for DNS (RFC 5891), and any other one decoded.
    package var asciiHost: String? { encodedHost.flatMap { $0.contains("%") ? host : $0 } }
}

extension String {
    /// The host name, with a port if there is one, as requests have it: in lower case, and encoded for DNS if it is an
    /// international name.
    package var hostKey: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return lowercased() }
        let name = prefix { $0 != ":" }
        let key = URLComponents(string: "https://\(name)/")?.asciiHost ?? String(name)
        return (key + self[name.endIndex...]).lowercased()
    }
}
