/// The links of `Link` fields (RFC 8288).
enum LinkHeader {
    /// Returns the target of the first link with a relation, as written; `nil` if there is none.
    ///
    /// - Parameter values: The values of the fields. A malformed link ends the reading of its value.
    static func target(_ relation: String, in values: [String]) -> String? {
        for value in values {
            var reader = LinkReader(value)
            while let link = reader.next() {
                if link.relations.contains(relation), !link.hasAnchor { return link.target }
            }
        }
        return nil
    }
}

/// A reader of one `Link` value, which reads each byte once.
private struct LinkReader {
    struct Link {
        var target: String
        /// The relations in lower case.
        var relations: [String] = []
        /// A Boolean value that indicates whether the link belongs to another document.
        var hasAnchor = false
    }
    private var rest: Substring.UTF8View

    init(_ value: String) { rest = value[...].utf8 }

    mutating func next() -> Link? {
        skip { $0 == UInt8(ascii: ",") || $0.isBlank }
        guard take("<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var link = Link(target: String(Substring(rest[..<end])))
        rest = rest[rest.index(after: end)...]
        while true {
            skip(\.isBlank)
            guard take(";") else { return link }
            skip(\.isBlank)
            let name = token().lowercased()
            skip(\.isBlank)
            guard take("=") else { continue }
            skip(\.isBlank)
            guard let value = take("\"") ? quoted() : token() else { return nil }
            switch name {
            case "rel" where link.relations.isEmpty:
                link.relations = value.split(separator: " ").map { $0.lowercased() }
            case "anchor": link.hasAnchor = true
            default: break
            }
        }
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func token() -> String {
        let token = rest.prefix { !$0.isBlank && !";,=\"<>".utf8.contains($0) }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    /// Reads up to the closing quote; returns `nil` if there is none.
    private mutating func quoted() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): if let next = rest.popFirst() { bytes.append(next) }
            default: bytes.append(byte)
            }
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
