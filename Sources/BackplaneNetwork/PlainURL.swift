/// A URL that needs no decoding: a scheme of lower-case letters, a host name or an IPv4 address, and perhaps a port, a
/// path and a query, without user info, percent-encoding and fragment.
///
/// Foundation's parser returns the same parts, but takes about 10,000 instructions.
package struct PlainURL {
    /// The host, with the port if there is one.
    package let authority: Substring
    package let host: Substring
    package let hasQuery: Bool

    /// Creates the parts of a URL; `nil` if it is of another kind, or not a URL.
    package init?(_ url: String) {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
            bytes[..<colon].allSatisfy(\.isLowerCaseLetter)
        else { return nil }
        var index = bytes.index(after: colon)
        for _ in 0..<2 {
            guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "/") else { return nil }
            index = bytes.index(after: index)
        }
        let rest = bytes[index...]
        let host = rest.prefix { $0.isLetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        // Foundation decodes names that begin with `xn--`.
        guard !host.isEmpty, !Self.hasEncodedLabel(host) else { return nil }
        var end = host.endIndex
        if end < bytes.endIndex, bytes[end] == UInt8(ascii: ":") {
            let port = bytes[bytes.index(after: end)...].prefix(while: \.isDigit)
            guard (1...4).contains(port.count) else { return nil }
            end = port.endIndex
        }
        var hasQuery = false
        if end < bytes.endIndex {
            guard [UInt8(ascii: "/"), UInt8(ascii: "?")].contains(bytes[end]) else { return nil }
            for byte in bytes[end...] {
                guard byte.isWrittenPlainly else { return nil }
                if byte == UInt8(ascii: "?") { hasQuery = true }
            }
        }
        (authority, self.host) = (url[index..<end], url[index..<host.endIndex])
        self.hasQuery = hasQuery
    }

    /// Returns whether two hyphens follow each other in a host, as in each name that is encoded for DNS (RFC 5891).
    private static func hasEncodedLabel(_ host: Substring.UTF8View) -> Bool {
        var wasHyphen = false
        for byte in host {
            if wasHyphen, byte == UInt8(ascii: "-") { return true }
            wasHyphen = byte == UInt8(ascii: "-")
        }
        return false
    }
}

extension UInt8 {
    fileprivate var isLowerCaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isLetterOrDigit: Bool {
        isLowerCaseLetter || isDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    /// A Boolean value that indicates whether the byte stands for itself in a path and in a query (RFC 3986, appendix A).
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
