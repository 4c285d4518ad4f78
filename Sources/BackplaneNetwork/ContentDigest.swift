/// A provider of SHA-256, which checks the digests that a manifest may give for libraries, and of MD5.
///
/// Both serve Digest authentication (RFC 7616).
///
/// The host itself contains no cryptography. `BackplaneCrypto` offers an implementation. A host without one reports a
/// manifest that specifies a `sha256` as a problem.
public protocol ContentDigest: Sendable {
    /// Returns the SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    func sha256(of bytes: [UInt8]) -> [UInt8]

    /// Returns the MD5 of `bytes`: 16 bytes (RFC 1321); `nil` if there is no such function.
    func md5(of bytes: [UInt8]) -> [UInt8]?
}

extension ContentDigest {
    /// Returns `nil`: MD5 is not offered.
    public func md5(of bytes: [UInt8]) -> [UInt8]? { nil }
}
