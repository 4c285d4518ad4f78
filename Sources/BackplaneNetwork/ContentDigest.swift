/// A provider of SHA-256, which checks the digests that a manifest may specify for libraries.
///
/// The host itself contains no cryptography. `BackplaneCrypto` offers an implementation. A host without one reports a
/// manifest that specifies a `sha256` as a problem.
public protocol ContentDigest: Sendable {
    /// Returns the SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    func sha256(of bytes: [UInt8]) -> [UInt8]
}
