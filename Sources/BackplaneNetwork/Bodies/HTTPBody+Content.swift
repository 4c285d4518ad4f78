public import Backplane
public import FoundationEssentials

extension HTTPBody {
    /// Returns a body of text in UTF-8.
    public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> HTTPBody {
        .bytes(Array(text.utf8), type: type)
    }

    /// Returns a body that contains an encoded value, which can be sent again.
    ///
    /// - Parameters:
    ///   - value: Any encodable value, or any JSON as a `DocumentValue` of `BackplaneDocuments`.
    ///   - encoder: The encoder.
    ///   - type: The media type.
    /// - Throws: `network.body` if the value cannot be encoded.
    public static func json(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), type: String = "application/json"
    ) throws(BackplaneError) -> HTTPBody {
        do {
            return .bytes(try encoder.encode(value).withUnsafeBytes { Array($0) }, type: type)
        } catch {
            throw BackplaneError(.networkBody, "the request's body cannot be encoded as JSON: \(error)")
        }
    }

    /// Returns the fields of a form as `application/x-www-form-urlencoded`, in order.
    ///
    /// Spaces become `+`, and all bytes except letters, digits and `*-._` are percent-encoded (WHATWG, URL, section
    /// 5.2).
    public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
        form(fields.map { ($0.key, $0.value) })
    }

    /// Returns the fields of a form as `application/x-www-form-urlencoded`, in order.
    public static func form(_ fields: [(name: String, value: String)]) -> HTTPBody {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes.append(formEncoding: name)
            bytes.append(UInt8(ascii: "="))
            bytes.append(formEncoding: value)
        }
        return .bytes(bytes, type: "application/x-www-form-urlencoded")
    }
}

extension [UInt8] {
    fileprivate mutating func append(formEncoding text: String) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                append(byte)
            case UInt8(ascii: " "): append(UInt8(ascii: "+"))
            default: self += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}
