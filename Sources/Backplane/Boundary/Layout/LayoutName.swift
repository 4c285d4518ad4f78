/// The spelling of names in layout texts: identifiers unchanged, all other names quoted so that none reads as syntax.
package enum LayoutName {
    package static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    package static func quoted(_ name: String) -> String {
        if !name.isEmpty, name.utf8.allSatisfy(isPlain) { return name }
        var bytes = [UInt8(ascii: "`")]
        for byte in name.utf8 {
            switch byte {
            case 0..<0x20, 0x7F, UInt8(ascii: "`"), UInt8(ascii: "\\"): bytes += escaped(byte)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "`")], as: UTF8.self)
    }

    /// Returns an escaped byte: a backslash and two hexadecimal digits.
    private static func escaped(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [UInt8(ascii: "\\"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}

extension String {
    /// The text, truncated to a readable length for a message.
    package var cut: String { utf8.count > 120 ? prefix(120) + "…" : self }
}
