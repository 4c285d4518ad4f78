public import FoundationEssentials

extension JSONValue {
    /// Parses JSON text strictly.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError`` with line and column, including for a document that exceeds ``DocumentLimits``.
    public init(parsing bytes: Data, as subject: DocumentSubject = .document) throws(DocumentError) {
        guard bytes.count <= DocumentLimits.bytes else { throw .tooLarge(subject) }
        self = try JSONReader.read(bytes, as: subject)
    }

    /// The value as text, with sorted keys and without spaces.
    ///
    /// Equal values produce equal bytes.
    public var json: Data {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return Data(bytes)
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += "\(value)".utf8
        case .number(let value): bytes += value.json.utf8
        case .string(let value): bytes += value.json
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (key, value)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += key.json
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension Double {
    /// The number as JSON; infinity and NaN, which JSON lacks, become `null`.
    fileprivate var json: String {
        if let whole = Int64(exactly: self) { return "\(whole)" }
        return isFinite ? "\(self)" : "null"
    }
}

extension String {
    /// The text as a JSON string, with its quotes.
    package var json: [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        for byte in utf8 {
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
        return bytes
    }
}
