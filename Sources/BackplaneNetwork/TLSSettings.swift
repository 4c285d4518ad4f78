/// The certificates and versions that are accepted from one host, and the certificate that it is shown.
public struct TLSSettings: Sendable, Hashable {
    /// A version of the protocol that an executor may be required to use.
    public enum Version: String, Sendable, CaseIterable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = "1.2"
        /// TLS 1.3 (RFC 8446).
        case tls13 = "1.3"
    }
    /// The path of a PEM file with the certificates to trust instead of the executor's; `nil` leaves them.
    public var roots: String?
    /// The lowest version that is accepted; `nil` means the executor's.
    public var minimum: Version?
    /// The path of a PEM file with the certificate that the host is shown, and after it those that lead to its
    /// authority; `nil` means none.
    public var certificate: String?
    /// The path of a PEM file with the private key of the certificate, without a passphrase; `nil` means that it is in
    /// the certificate's file.
    public var key: String?

    /// Creates settings, by default the executor's and without a certificate of the client's.
    public init(
        roots: String? = nil, minimum: Version? = nil, certificate: String? = nil, key: String? = nil
    ) {
        (self.roots, self.minimum, self.certificate, self.key) = (roots, minimum, certificate, key)
    }
}
