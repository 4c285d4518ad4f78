/// The certificates and versions that are accepted from one host.
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

    /// Creates settings with roots and a lowest version, each by default the executor's.
    public init(roots: String? = nil, minimum: Version? = nil) { (self.roots, self.minimum) = (roots, minimum) }
}
