import Backplane
import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The scheme Digest (RFC 7616); requests to one origin share a nonce.
final class DigestAuthenticator: Authenticator {
    /// A nonce of an origin with the number of its uses.
    private struct Session {
        var challenge: DigestChallenge
        var nonce: String
        var count: UInt32 = 0
        let clientNonce: String
    }
    /// The maximum number of answers to stale nonces in one exchange.
    private static let mostStale = 3
    /// The maximum number of origins with a nonce, beyond which the oldest are removed.
    private static let mostOrigins = 100

    private let user: String
    private let password: Secret
    private let clientNonce: @Sendable () -> String
    private let sessions = Mutex<[(origin: HTTPOrigin, session: Session)]>([])

    /// - Parameter clientNonce: A function that creates a nonce; for tests.
    init(
        user: String, password: Secret,
        clientNonce: @escaping @Sendable () -> String = DigestAuthenticator.randomNonce
    ) {
        (self.user, self.password, self.clientNonce) = (user, password, clientNonce)
    }

    func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) async throws -> HTTPRequest {
        guard let session = next(for: request, nil) else { return request }
        return try await proved(request, session)
    }

    func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool {
        guard response.status == 401, let challenge = challenge(of: response) else { return false }
        guard let used = sent.authorization else { return true }
        // The password is wrong, unless the server says that the nonce is; or the first request had an older nonce.
        if challenge.isStale { return failures < Self.mostStale }
        return failures == 0 && !used.contains("nonce=\"\(challenge.nonce)\"")
    }

    func answer(
        _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
        over network: HTTPPipeline
    ) async throws -> HTTPRequest? {
        guard let challenge = challenge(of: response), let session = next(for: request, challenge) else {
            return nil
        }
        return try await proved(request, session)
    }

    /// Stores the nonce for the next request that a response contains (RFC 7616, section 3.5).
    func received(_ response: HTTPResponse, to sent: HTTPRequest) {
        guard sent.authorization != nil, let info = response.headers["Authentication-Info"],
            let nonce = AuthenticationChallenge.parameters(in: info).first(where: { $0.name == "nextnonce" })?.value,
            BasicField.hasNoControls(nonce), let origin = HTTPOrigin(sent.url)
        else { return }
        sessions.withLock { sessions in
            guard let index = sessions.firstIndex(where: { $0.origin == origin }),
                sessions[index].session.nonce != nonce
            else { return }
            (sessions[index].session.nonce, sessions[index].session.count) = (nonce, 0)
        }
    }

    private func challenge(of response: HTTPResponse) -> DigestChallenge? {
        .best(of: AuthenticationChallenge.challenges(in: response.headers))
    }

    /// Counts a request and returns its session; returns `nil` if no challenge of its origin is known.
    ///
    /// - Parameter challenge: The challenge that the request answers.
    private func next(for request: HTTPRequest, _ challenge: DigestChallenge?) -> Session? {
        guard let origin = HTTPOrigin(request.url) else { return nil }
        return sessions.withLock { sessions in
            var index = sessions.firstIndex { $0.origin == origin }
            if let challenge, index.map({ sessions[$0].session.nonce != challenge.nonce }) ?? true {
                if let index { sessions.remove(at: index) }
                if sessions.count >= Self.mostOrigins { sessions.removeFirst() }
                let session = Session(challenge: challenge, nonce: challenge.nonce, clientNonce: clientNonce())
                sessions.append((origin, session))
                index = sessions.count - 1
            }
            guard let index else { return nil }
            sessions[index].session.count &+= 1
            return sessions[index].session
        }
    }

    private func proved(_ request: HTTPRequest, _ session: Session) async throws -> HTTPRequest {
        var request = request
        if session.challenge.quality == .body {
            // The hashed bytes are the ones that are sent, even if the body is a file that changes.
            request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit)
        }
        let field = DigestField(
            session.challenge, user: user, password: password.revealed, nonce: session.nonce,
            count: session.count, clientNonce: session.clientNonce)
        return request.authorized(field.value(request.method, request.target, body: request.body.bytes ?? []))
    }

    /// Returns a nonce of 128 random bits.
    private static func randomNonce() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }
}

extension HTTPRequest {
    /// The path and the query of the URL, as in a request to the server.
    fileprivate var target: String {
        guard let address = URLComponents(string: url) else { return "/" }
        let path = address.percentEncodedPath
        return (path.isEmpty ? "/" : path) + (address.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
}
