#if Engines
import Crypto
import HTTPTypes
import Hummingbird
import Synchronization

/// The digests of a reader's name and password, with a description that reveals neither.
struct Credentials: Sendable, CustomStringConvertible {
    private let reader: SHA256.Digest
    private let password: SHA256.Digest
    var description: String { "Credentials" }

    init(reader: String, password: String) {
        self.reader = SHA256.hash(data: Array(reader.utf8))
        self.password = SHA256.hash(data: Array(password.utf8))
    }

    /// Returns whether name and password are equal; compares both in constant time, even if the first differs.
    func match(_ other: Credentials) -> Bool {
        let (isReader, isPassword) = (reader == other.reader, password == other.password)
        return isReader && isPassword
    }
}

/// The sessions of readers, which are recognised by their tokens.
final class Sessions: Sendable {
    let lifetime: Duration
    private let readers: [Credentials]
    private let ledger = Mutex(TokenLedger())

    init(readers: [Credentials], lifetime: Duration) {
        (self.readers, self.lifetime) = (readers, lifetime)
    }

    /// Returns a new token, or `nil` if the credentials are wrong.
    func signIn(_ claimed: Credentials) -> String? {
        // Every reader is compared, so that the time says nothing about who there is.
        guard readers.map({ $0.match(claimed) }).contains(true) else { return nil }
        let expiry = ContinuousClock.now + lifetime
        return ledger.withLock { $0.issue(until: expiry) }
    }

    /// Checks that the request carries a valid token.
    func authorize(_ request: Request) throws(Failure) {
        let words = (request.headers[.authorization] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer" else {
            throw .unauthorized("token.missing", "This needs a bearer token; POST /v2/sessions returns one.")
        }
        switch ledger.withLock({ $0.judge(words[1], at: .now) }) {
        case .valid: return
        case .expired: throw .unauthorized("token.expired", "The token has expired; POST /v2/sessions issues another.")
        case .unknown:
            throw .unauthorized(
                "token.unknown", "This server did not issue this token; POST /v2/sessions returns one.")
        }
    }
}
#endif
