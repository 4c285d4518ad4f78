#if Engines
public import BackplaneNetwork
import Crypto

/// The SHA-256 implementation of swift-crypto, with MD5 for servers that offer no better Digest authentication.
public struct SHA256Digest: ContentDigest {
    /// Creates a stateless implementation, which can be shared.
    public init() {}

    /// Returns the SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    public func sha256(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }

    /// Returns the SHA-256 of content that is read in pieces, with only one piece in memory at a time.
    public func sha256<Failure>(reading next: () throws(Failure) -> [UInt8]?) throws(Failure) -> [UInt8] {
        var hash = SHA256()
        while let piece = try next() { piece.withUnsafeBytes { hash.update(bufferPointer: $0) } }
        return Array(hash.finalize())
    }

    /// Returns the MD5 of `bytes`: 16 bytes (RFC 1321).
    public func md5(of bytes: [UInt8]) -> [UInt8]? {
        var hash = Insecure.MD5()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }
}
#endif
