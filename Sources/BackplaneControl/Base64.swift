import FoundationEssentials

/// The encoding of bytes that are not text.
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    package static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { Array($0) } }
}
