extension String {
    /// A Boolean value that indicates whether the text is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetter || $0.isDecimalDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// A Boolean value that indicates whether the text can be the value of a header field (RFC 9110, section 5.5).
    ///
    /// A tab is the only control character allowed.
    var isFieldValue: Bool { utf8.allSatisfy { $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F } }

    /// The text without surrounding spaces and tabs, which are not part of a field's value.
    var trimmedFieldValue: String {
        guard let first = utf8.first, let last = utf8.last, first.isBlank || last.isBlank else { return self }
        return String(
            String.UnicodeScalarView(unicodeScalars.drop(while: \.isBlank).reversed().drop(while: \.isBlank).reversed())
        )
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
