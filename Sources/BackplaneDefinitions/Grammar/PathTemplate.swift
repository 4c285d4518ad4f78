/// The path of a method's request, and its query, with indicators.
struct PathTemplate: Sendable {
    /// The scheme, host and port of a full URL; empty for a path.
    private(set) var origin = ""
    /// The path, in which literals are percent-encoded.
    private(set) var path: [Template.Piece] = []
    /// The fields of the query, separated by `&`, in which literals are percent-encoded.
    private(set) var query: [[Template.Piece]] = []
    /// The fragment, which is never sent; `nil` if there is none.
    private(set) var fragment: String?

    /// A Boolean value that indicates whether the path is a full URL.
    var isFullURL: Bool { !origin.isEmpty }

    /// Creates a path from the text of a definition.
    init(_ template: Template) {
        var inQuery = false
        for (index, piece) in template.pieces.enumerated() {
            guard case .literal(let text) = piece else {
                add(piece, inQuery)
                continue
            }
            var bytes = Array(text.utf8)[...]
            if index == 0, let end = Self.endOfOrigin(bytes) {
                origin = String(decoding: bytes[..<end], as: UTF8.self)
                bytes = bytes[end...]
            }
            let sent = bytes.prefix { $0 != UInt8(ascii: "#") }
            if !inQuery, let mark = sent.firstIndex(of: UInt8(ascii: "?")) {
                add(sent[..<mark], false)
                inQuery = true
                query = [[]]
                add(sent[(mark + 1)...], true)
            } else {
                add(sent, inQuery)
            }
            if sent.endIndex < bytes.endIndex {
                fragment = String(decoding: bytes[sent.endIndex...], as: UTF8.self)
                break
            }
        }
        query.removeAll(where: \.isEmpty)
    }

    /// Adds a literal, which may contain several fields of the query.
    private mutating func add(_ bytes: ArraySlice<UInt8>, _ inQuery: Bool) {
        guard inQuery else {
            if !bytes.isEmpty { path.append(.literal(URLText.encoded(bytes, inQuery: false))) }
            return
        }
        for (index, field) in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { query.append([]) }
            if !field.isEmpty { query[query.count - 1].append(.literal(URLText.encoded(field, inQuery: true))) }
        }
    }

    private mutating func add(_ indicator: Template.Piece, _ inQuery: Bool) {
        if inQuery { query[query.count - 1].append(indicator) } else { path.append(indicator) }
    }

    /// Returns the end of the scheme, host and port of a full URL; `nil` for a path.
    private static func endOfOrigin(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].first?.isLetter == true,
            bytes[..<colon].allSatisfy({ $0.isLetter || $0.isDecimalDigit || "+-.".utf8.contains($0) })
        else { return nil }
        return bytes[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    }

    /// A Boolean value that indicates whether the host of a full URL is a literal; always true for a path.
    var hasSoundOrigin: Bool {
        guard isFullURL else { return true }
        let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isDecimalDigit || ".-:[]".utf8.contains($0) })
        else { return false }
        // An indicator right after the host would be a part of it.
        return switch path.first {
        case .literal(let text): text.utf8.first == UInt8(ascii: "/")
        case .indicator: false
        case nil: true
        }
    }
}

/// The encoding of text for the components of a URL (RFC 3986, section 3).
enum URLText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns a literal of a definition, percent-encoding characters that may not occur in a path or a query.
    ///
    /// Percent-encoded octets remain unchanged.
    static func encoded(_ bytes: ArraySlice<UInt8>, inQuery: Bool) -> String {
        let allowed = inQuery ? "%/?:@!$&'()*+,;=" : "%/:@!$&'()*+,;="
        return percentEncoded(bytes) { $0.isUnreserved || allowed.utf8.contains($0) }
    }

    /// Returns a value with all bytes percent-encoded except unreserved ones.
    static func encoded(_ value: String) -> String {
        percentEncoded(value.utf8, allBut: \.isUnreserved)
    }

    private static func percentEncoded(_ bytes: some Collection<UInt8>, allBut stays: (UInt8) -> Bool) -> String {
        if bytes.allSatisfy(stays) { return String(decoding: bytes, as: UTF8.self) }
        var encoded: [UInt8] = []
        for byte in bytes {
            if stays(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// A Boolean value that indicates whether the byte is an unreserved character (RFC 3986, section 2.3).
    fileprivate var isUnreserved: Bool { isLetter || isDecimalDigit || "-._~".utf8.contains(self) }
}
