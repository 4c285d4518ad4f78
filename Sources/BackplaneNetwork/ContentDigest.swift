/// Computes the SHA-256 that a manifest may give for a library, so that the host itself needs no cryptography.
///
/// `BackplaneCrypto` brings one. A host without one reports a manifest that gives a `sha256` as a problem.
public protocol ContentDigest: Sendable {
    /// The SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    func sha256(of bytes: [UInt8]) -> [UInt8]
}
