import FoundationEssentials

/// The `Authorization` field for a user and a password (RFC 7617).
enum BasicField {
    /// Returns the field's value; the user and the password are encoded in UTF-8, regardless of the server's charset.
    static func value(user: String, password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }

    /// Returns whether a string can be a user name: it contains no control characters and no colon, which would
    /// terminate it.
    static func canBeUser(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: ":")) && hasNoControls(name)
    }

    /// Returns whether a string contains no control characters.
    static func hasNoControls(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
