import Backplane
import BackplaneExchange
import BackplaneNetwork

/// A plugin with a manager that signs requests with HMAC (RFC 2104).
struct SigningPlugin: Plugin {
    static let id = "org.backplane.tests.signing"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(BookSigner.self)
    }
}

/// A manager that signs the head and the body's digest of each request with the value `key` of the credential.
final class BookSigner: Manager {
    typealias Provides = Authenticating
    struct NoKey: ComponentError {
        var code: String { "signer.no-key" }
        var message: String { "the credential has no value `key`" }
    }

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.digests) { _, _, _ in true }
        table.async(\.prepare) { signer, request, _ in
            [["Authorization", "HMAC \(try signer.signature(of: request))"]]
        }
        table.async(\.answer) { _, _, _ in [] }
    }

    private func signature(of request: AuthenticatedRequest) throws -> String {
        guard let key = request.values["key"], let digest = request.digest else { throw NoKey() }
        return HMAC.text(key, "\(request.method)\n\(request.url)\n\(digest)")
    }
}

/// HMAC with SHA-256 (RFC 2104).
enum HMAC {
    static func text(_ key: String, _ message: String) -> String {
        let block = Array(key.utf8) + [UInt8](repeating: 0, count: 64 - key.utf8.count)
        let inner = ContentDigest.sha256(of: block.map { $0 ^ 0x36 } + Array(message.utf8))
        return ContentDigest.sha256(of: block.map { $0 ^ 0x5C } + inner).hexadecimal
    }
}
