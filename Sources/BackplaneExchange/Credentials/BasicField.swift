import FoundationEssentials

/// The `Authorization` of a user with a password (RFC 7617).
enum BasicField {
    /// Returns the field's value; user and password are in UTF-8, whatever the server announces.
    static func value(user: String, password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }

    /// Returns whether a name can be a user's: without a colon, which ends it, and without control characters.
    static func canBeUser(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: ":")) && hasNoControls(name)
    }

    /// Returns whether a text has no control characters.
    static func hasNoControls(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
