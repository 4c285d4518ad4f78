#if Engines
import Crypto
import Foundation

/// A certificate authority for tests: creates its own certificate and those of servers, with fresh keys.
public struct CertificateAuthority: Sendable {
    /// A certificate and its private key, both as PEM.
    public struct Identity: Sendable {
        /// The chain that a server presents, in PEM.
        public var certificate: String
        /// The private key.
        public var key: String
    }

    private let key = P256.Signing.PrivateKey()
    private let name: String

    /// Creates an authority with its own key.
    public init(name: String = "Backplane test authority") { self.name = name }

    /// The authority's own certificate as PEM, for a file of trusted roots.
    public var certificate: String {
        pem(
            try! signed(  // a new key can always sign
                subject: name, key: key.publicKey, from: Self.longAgo, to: Self.farAway,
                extensions: [
                    // The certificate is an authority's, and its key signs certificates.
                    DER.sequence(
                        DER.identifier(2, 5, 29, 19), DER.boolean(true), DER.octets(DER.sequence(DER.boolean(true)))),
                    DER.sequence(
                        DER.identifier(2, 5, 29, 15), DER.boolean(true), DER.octets([3, 2, 1, 6])),
                ]))
    }

    /// Returns the identity of a server.
    ///
    /// - Parameters:
    ///   - hosts: The names and IPv4 addresses for which the certificate is valid.
    ///   - isExpired: A Boolean value that indicates whether the certificate has expired.
    public func identity(for hosts: [String] = ["localhost", "127.0.0.1"], isExpired: Bool = false) -> Identity {
        identity(
            of: P256.Signing.PrivateKey(), for: hosts, until: isExpired ? "20010101000000Z" : Self.farAway)
    }

    /// Returns the identity of a server whose certificate is self-signed rather than signed by an authority.
    ///
    /// - Parameter hosts: The names and IPv4 addresses for which the certificate is valid.
    public static func selfSigned(for hosts: [String] = ["localhost", "127.0.0.1"]) -> Identity {
        let own = CertificateAuthority(name: hosts.first ?? "nobody")
        return own.identity(of: own.key, for: hosts, until: farAway)
    }

    private func identity(of key: P256.Signing.PrivateKey, for hosts: [String], until end: String) -> Identity {
        let names = hosts.flatMap { host -> [UInt8] in
            let numbers = host.split(separator: ".").compactMap { UInt8($0) }
            return numbers.count == 4 ? DER.implicit(7, numbers) : DER.implicit(2, Array(host.utf8))
        }
        let alternatives = DER.sequence(DER.identifier(2, 5, 29, 17), DER.octets(DER.sequence(names)))
        let certificate = try! signed(  // a key of this kind can always sign
            subject: hosts.first ?? "nobody", key: key.publicKey, from: Self.longAgo, to: end,
            extensions: [alternatives])
        return Identity(certificate: pem(certificate), key: key.pemRepresentation)
    }

    private static let longAgo = "20000101000000Z"
    private static let farAway = "21000101000000Z"

    /// Returns a certificate (RFC 5280, section 4.1), signed with ECDSA and SHA-256.
    private func signed(
        subject: String, key publicKey: P256.Signing.PublicKey, from start: String, to end: String,
        extensions: [[UInt8]]
    ) throws -> [UInt8] {
        let algorithm = DER.sequence(DER.identifier(1, 2, 840, 10045, 4, 3, 2))
        let content = DER.sequence(
            DER.explicit(0, DER.integer([2])),
            DER.integer((0..<8).map { _ in UInt8.random(in: 1...0x7F) }), algorithm, distinguished(name),
            DER.sequence(DER.time(start), DER.time(end)), distinguished(subject), Array(publicKey.derRepresentation),
            DER.explicit(3, DER.sequence(extensions.flatMap(\.self))))
        let signature = try key.signature(for: content).derRepresentation
        return DER.sequence(content, algorithm, DER.bits(Array(signature)))
    }

    /// Returns a distinguished name that consists of a common name.
    private func distinguished(_ name: String) -> [UInt8] {
        DER.sequence(DER.set(DER.sequence(DER.identifier(2, 5, 4, 3), DER.text(name))))
    }

    private func pem(_ certificate: [UInt8]) -> String {
        "-----BEGIN CERTIFICATE-----\n"
            + Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            + "\n-----END CERTIFICATE-----\n"
    }
}
#endif
