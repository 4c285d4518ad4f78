extension UInt8 {
    /// A Boolean value that indicates whether the byte is white space in JSON (RFC 8259, section 2) and XML (2.3).
    var isSpace: Bool {
        switch self {
        case 0x20, 0x09, 0x0A, 0x0D: true
        default: false
        }
    }
}
