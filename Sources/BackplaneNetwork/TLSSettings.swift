/// The accepted certificates and versions of one host, and the client certificate for it.
public struct TLSSettings: Sendable, Hashable {
    /// A version of the protocol that an executor may be required to use.
    public enum Version: String, Sendable, CaseIterable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = "1.2"
        /// TLS 1.3 (RFC 8446).
        case tls13 = "1.3"
    }
    /// The path of a PEM file with the certificates to trust instead of the executor's; `nil` means the executor's.
    public var roots: String?
    /// The minimum accepted version; `nil` means the executor's.
    public var minimum: Version?
    /// The path of a PEM file with the client certificate, followed by its intermediate certificates; `nil` means none.
    public var certificate: String?
    /// The path of a PEM file with the private key, without a passphrase; `nil` means the certificate's file.
    public var key: String?

    /// Creates settings, by default those of the executor, without a client certificate.
    public init(
        roots: String? = nil, minimum: Version? = nil, certificate: String? = nil, key: String? = nil
    ) {
        (self.roots, self.minimum, self.certificate, self.key) = (roots, minimum, certificate, key)
    }
}
