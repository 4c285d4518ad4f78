public import FoundationEssentials

extension ManifestValue {
    /// The value as JSON: the same bytes for the same value, with sorted keys and without spaces.
    ///
    /// Data is base64 and a date is its seconds since the reference date, as `JSONDecoder` expects by default. JSON has no
    /// infinity and no NaN: such a number, which only a property list can hold, becomes `null`.
    public var json: Data {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return Data(bytes)
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += "\(value)".utf8
        case .number(let value): Self.write(value, to: &bytes)
        case .string(let value): Self.write(value, to: &bytes)
        case .data(let value): Self.write(value.base64EncodedString(), to: &bytes)
        case .date(let value): Self.write(value.timeIntervalSinceReferenceDate, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .dictionary(let values):
            bytes.append(UInt8(ascii: "{"))
            for (index, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ number: Double, to bytes: inout [UInt8]) {
        if let whole = Int64(exactly: number) {
            bytes += "\(whole)".utf8
        } else {
            bytes += (number.isFinite ? "\(number)" : "null").utf8
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20: bytes += (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8 + Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
