public import Backplane
import FoundationEssentials

/// A key that the server of a host may have: the SHA-256 hash of the key, or a certificate file that contains it.
///
/// The hash covers the certificate's SubjectPublicKeyInfo in DER (RFC 7469, section 2.4), so a renewed certificate with
/// the same key has the same pin.
public enum CertificatePin: Sendable, Hashable, CustomStringConvertible {
    /// The hash of the key, which has 32 bytes.
    case key(sha256: [UInt8])
    /// The path of a PEM file, whose first certificate has the key.
    case file(String)

    /// The names that mark a text as a hash when they precede a slash or an equals sign.
    private static let hashNames = ["sha1", "sha256", "sha384", "sha512", "sha-256", "pin-sha256"]

    /// Creates a pin from `sha256/` with the hash in Base64, or from the path of a PEM file.
    ///
    /// - Throws: `network.insecure` if the text is marked as a hash, but is not a SHA-256 hash in Base64.
    public init(_ text: String) throws(BackplaneError) {
        let name = text.prefix { $0 != "/" && $0 != "=" }
        guard name.endIndex < text.endIndex, Self.hashNames.contains(name.lowercased()) else {
            self = .file(text)
            return
        }
        guard text.hasPrefix("sha256/") else {
            throw BackplaneError(
                .networkInsecure, "a pin begins with `\(name)`; expected `sha256/`, or `./` before a path")
        }
        guard let hash = Data(base64Encoded: String(text.dropFirst("sha256/".count))) else {
            throw BackplaneError(
                .networkInsecure, "the text after `sha256/` is not Base64; expected 32 bytes as 44 characters")
        }
        guard hash.count == 32 else {
            throw BackplaneError(
                .networkInsecure,
                "the hash after `sha256/` has \(hash.count) bytes; expected 32 bytes as 44 characters of Base64")
        }
        self = .key(sha256: Array(hash))
    }

    /// The text from which the pin can be created.
    public var description: String {
        switch self {
        case .key(let hash): "sha256/" + Data(hash).base64EncodedString()
        case .file(let path): path
        }
    }

    /// The path of the certificate file; `nil` for a hash.
    package var path: String? { if case .file(let path) = self { path } else { nil } }
}
