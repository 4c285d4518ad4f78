import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// A certificate and its key, both as PEM, from `certificates.pem`, which `make-certificates.sh` wrote.
struct TestIdentity: Sendable, CustomTestStringConvertible {
    private let name: String
    /// The certificate of a server, a client or an authority.
    private(set) var certificate: String
    /// The private key; empty for an authority.
    let key: String

    var testDescription: String { name }

    // The authorities.
    static let servers = TestIdentity("servers"), clients = TestIdentity("clients")
    static let strangers = TestIdentity("strangers")

    // Servers, for localhost and 127.0.0.1 unless the name says otherwise.
    static let server = TestIdentity("server"), expired = TestIdentity("expired")
    static let otherHost = TestIdentity("other-host")
    static let strangeServer = TestIdentity("strange-server"), selfSigned = TestIdentity("self-signed")

    // Clients.
    static let ann = TestIdentity("ann"), bob = TestIdentity("bob"), strangeClient = TestIdentity("strange-client")

    private static let sections: [Substring] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "certificates.pem")
        let text = try! String(contentsOf: file, encoding: .utf8)  // a file of this folder
        return text.split(separator: "# ")
    }()

    private init(_ name: String) {
        let section = Self.sections.first { $0.hasPrefix(name + "\n") }!  // a name in the script
        let content = section.dropFirst(name.count + 1)
        let key = content.firstRange(of: "-----BEGIN PRIVATE KEY-----")?.lowerBound ?? content.endIndex
        (self.name, certificate, self.key) = (name, String(content[..<key]), String(content[key...]))
    }

    /// Returns the identity with the certificate of its authority after its own.
    func followed(by authority: TestIdentity) -> TestIdentity {
        var identity = self
        identity.certificate += authority.certificate
        return identity
    }

    /// Writes the certificate to a new file, in which an executor looks for trusted roots, and removes it afterwards.
    static func withRoots<Result>(
        _ authority: TestIdentity = .servers, _ body: (_ path: String) async throws -> Result
    ) async throws -> Result {
        let files = try TestFolder()
        return try await body(files.write(Array(authority.certificate.utf8), as: "roots.pem"))
    }
}
