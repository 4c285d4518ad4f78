import CBackplane
import FoundationEssentials

/// The JSON that crosses the boundary: Foundation's coders with their defaults, so dates are seconds since the
/// reference date.
package enum JSON {
    // All can be shared: coding only reads their options, which never change.
    private static let encoder = JSONEncoder()
    private static let sortingEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }()
    private static let decoder = JSONDecoder()

    package static func encode(_ value: some Encodable, failing code: BackplaneError.Code) throws(BackplaneError)
        -> [UInt8]
    {
        try encodeData(value, failing: code).withUnsafeBytes { Array($0) }
    }

    /// Encodes a value with the keys of all objects sorted, so that equal dictionaries yield equal bytes.
    static func encodeSorted(_ value: some Encodable, failing code: BackplaneError.Code) throws(BackplaneError)
        -> [UInt8]
    {
        try encodeData(value, failing: code, with: sortingEncoder).withUnsafeBytes { Array($0) }
    }

    /// Encodes a value without copying the encoder's output.
    static func encodeData(
        _ value: some Encodable, failing code: BackplaneError.Code, with encoder: JSONEncoder = encoder
    ) throws(BackplaneError) -> Data {
        do {
            return try encoder.encode(value)
        } catch let error as EncodingError {
            let mistake = JSONMistake(error)
            throw BackplaneError(code, mistake.text, at: mistake.path)
        } catch {
            throw BackplaneError(code, String(describing: error))
        }
    }

    package static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: [UInt8], failing code: BackplaneError.Code
    ) throws(BackplaneError) -> Value {
        try bytes.withUnsafeBufferPointer { bytes throws(BackplaneError) in try decode(type, bytes, failing: code) }
    }

    /// Decodes a value from borrowed bytes.
    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: bp_bytes, failing code: BackplaneError.Code)
        throws(BackplaneError) -> Value
    {
        try decode(type, bytes.lent, failing: code)
    }

    /// Returns the mistake with which a text is refused as a type; `nil` if it is read, or refused for another reason
    /// than its JSON.
    static func mistake<Value: Decodable>(decoding _: Value.Type, from text: String) -> JSONMistake? {
        let data = Data(text.utf8)
        do {
            _ = try decoder.decode(Value.self, from: data)
            return nil
        } catch {
            return (error as? DecodingError).map { JSONMistake($0, in: data) }
        }
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>, failing code: BackplaneError.Code
    ) throws(BackplaneError) -> Value {
        do {
            return try decoder.decode(type, from: Data(lending: bytes))
        } catch let error as DecodingError {
            let mistake = JSONMistake(error, in: Data(lending: bytes))
            throw BackplaneError(code, mistake.text, at: mistake.path)
        } catch {
            throw BackplaneError(code, String(describing: error))
        }
    }
}

extension Data {
    /// Lends the bytes for the duration of `body`.
    func withBytes<Result>(_ body: (bp_bytes) -> Result) -> Result {
        withUnsafeBytes { body(bp_bytes(data: $0.bindMemory(to: UInt8.self).baseAddress, length: $0.count)) }
    }

    /// Wraps borrowed bytes without a copy, for a decoder, which does not retain them.
    fileprivate init(lending bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress {
            self.init(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
        } else {
            self.init()
        }
    }
}
