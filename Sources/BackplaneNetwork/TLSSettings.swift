/// The accepted certificates, versions and keys of one host, and the client certificate for it.
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
    /// The accepted keys of the server, which also needs a trusted certificate; empty for any key.
    ///
    /// At least two pins are required, including a backup (RFC 7469, section 4.3). With fewer, exchanges fail with
    /// `network.insecure`. If the server has another key, exchanges fail with `network.pin-mismatch`, and no request is
    /// sent.
    public var pins: [CertificatePin]
    /// A Boolean value that indicates whether another key is only reported, and the exchange continues.
    public var reportsOnly: Bool

    /// Creates settings, by default the executor's, without a client certificate and pins.
    public init(
        roots: String? = nil, minimum: Version? = nil, certificate: String? = nil, key: String? = nil,
        pins: [CertificatePin] = [], reportsOnly: Bool = false
    ) {
        (self.roots, self.minimum, self.certificate, self.key) = (roots, minimum, certificate, key)
        (self.pins, self.reportsOnly) = (pins, reportsOnly)
    }
}

extension [String: TLSSettings] {
    /// The settings by host names in the form of requests; if a name has two spellings, either one is kept.
    package var byHostKey: Self {
        Self(
            map { name, settings in
                (name.hasPrefix("*.") ? "*." + String(name.dropFirst(2)).nameKey : name.nameKey, settings)
            }
        ) { first, _ in first }
    }

    /// Returns the settings of a host name, or else of the wildcard for all names that differ only in the first label
    /// (RFC 6125, section 6.4.3).
    package func settings(ofHost name: String) -> TLSSettings? {
        if let own = self[name] { return own }
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex, !name.isAddress else { return nil }
        return self["*" + name[dot...]]
    }
}

extension String {
    /// A Boolean value that indicates whether the host is an IP address: in brackets, or with digits in its last label.
    fileprivate var isAddress: Bool {
        hasPrefix("[") || self[(lastIndex(of: ".").map(index(after:)) ?? startIndex)...].allSatisfy(\.isNumber)
    }
}
