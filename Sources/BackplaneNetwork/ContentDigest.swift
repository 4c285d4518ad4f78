/// A provider of hash functions: SHA-256, which checks libraries and downloads, and MD5.
///
/// Digest authentication (RFC 7616) uses both.
///
/// The host itself contains no cryptography. `BackplaneCrypto` provides an implementation. A host without one reports a
/// manifest that specifies a `sha256` as a problem, and refuses downloads with a digest to check.
public protocol ContentDigest: Sendable {
    /// Returns the SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    func sha256(of bytes: [UInt8]) -> [UInt8]

    /// Returns the MD5 of `bytes`: 16 bytes (RFC 1321); `nil` if the provider does not offer it.
    func md5(of bytes: [UInt8]) -> [UInt8]?

    /// Returns the SHA-256 of content that is read in pieces, such as a file's.
    ///
    /// By default, all pieces are collected first.
    ///
    /// - Parameter next: A function that returns the next piece, or `nil` at the end.
    /// - Throws: The errors of `next`.
    func sha256<Failure>(reading next: () throws(Failure) -> [UInt8]?) throws(Failure) -> [UInt8]
}

extension ContentDigest {
    /// Returns `nil`, because MD5 is not offered.
    public func md5(of bytes: [UInt8]) -> [UInt8]? { nil }

    /// Returns the SHA-256 of content that is read in pieces, all of which are collected first.
    public func sha256<Failure>(reading next: () throws(Failure) -> [UInt8]?) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try next() { bytes += piece }
        return sha256(of: bytes)
    }
}
