public import BackplaneNetwork
import FoundationEssentials

extension HTTPResponse {
    /// Returns the body of a successful response, decoded from JSON.
    ///
    /// - Throws: ``ServerError`` if the status is not 200 to 299, with the server's code; or with the code
    ///   `books.unreadable` if the body cannot be decoded.
    public func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try requireSuccess()
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw ServerError(
                code: "books.unreadable", message: "the server's response cannot be decoded: \(error)",
                status: status)
        }
    }

    /// Checks that the response was successful.
    ///
    /// - Throws: ``ServerError`` for any status other than 200 to 299.
    private func requireSuccess() throws {
        guard !(200..<300).contains(status) else { return }
        let said = try? JSONDecoder().decode(Refusal.self, from: Data(body))
        throw ServerError(
            code: said?.error ?? "http.\(status)",
            message: said?.message ?? "the server answered with status \(status)", status: status)
    }

    private struct Refusal: Decodable {
        var error, message: String
    }
}

extension String {
    /// The string escaped for use as a value in a URL's query or as a segment of its path.
    ///
    /// All characters except the unreserved ones of RFC 3986 are percent-encoded.
    public var encodedForQuery: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}
