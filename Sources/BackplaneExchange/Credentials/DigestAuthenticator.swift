import Backplane
import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The scheme Digest (RFC 7616); requests to one origin share a nonce.
final class DigestAuthenticator: Authenticator {
    /// The maximum number of answers to stale nonces in one exchange.
    private static let mostStale = 3
    /// The maximum number of origins with a nonce, beyond which the oldest are removed.
    private static let mostOrigins = 100

    private let user: String
    private let password: Secret
    private let clientNonce: @Sendable () -> String
    private let sessions = Mutex<[(origin: HTTPOrigin, session: DigestSession)]>([])

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
        // The password is wrong, unless the server calls the nonce stale, or the first request had an older nonce.
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
    private func next(for request: HTTPRequest, _ challenge: DigestChallenge?) -> DigestSession? {
        guard let origin = HTTPOrigin(request.url) else { return nil }
        return sessions.withLock { sessions in
            var index = sessions.firstIndex { $0.origin == origin }
            if let challenge, index.map({ sessions[$0].session.nonce != challenge.nonce }) ?? true {
                if let index { sessions.remove(at: index) }
                if sessions.count >= Self.mostOrigins { sessions.removeFirst() }
                let session = DigestSession(challenge, clientNonce: clientNonce())
                sessions.append((origin, session))
                index = sessions.count - 1
            }
            guard let index else { return nil }
            sessions[index].session.count &+= 1
            return sessions[index].session
        }
    }

    private func proved(_ request: HTTPRequest, _ session: DigestSession) async throws -> HTTPRequest {
        var request = request
        if session.challenge.quality == .body {
            // The hashed bytes are the ones that are sent, even if the body is a file that changes.
            request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit)
        }
        let field = session.field(
            user, password.revealed, request.method, request.target, body: request.body.bytes ?? [])
        return request.authorized(field)
    }

    private static func randomNonce() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }
}

extension HTTPRequest {
    fileprivate var target: String {
        WebURL(url)?.target ?? "/"
    }
}

/// A challenge of the scheme Digest that can be answered (RFC 7616, section 3.3).
struct DigestChallenge: Sendable, Equatable {
    enum Quality: String, Sendable, CaseIterable {
        case head = "auth"
        case body = "auth-int"
    }
    var realm, nonce: String
    var opaque: String?
    var algorithm = ContentDigest.Algorithm.md5
    /// Whether one key is used for all responses to this challenge.
    var isSession = false
    var quality = Quality.head
    /// Whether the request was rejected only because its nonce was stale.
    var isStale = false
    var hashesUser = false

    /// Creates a challenge from its parameters; returns `nil` if it is incomplete, of another scheme, or of an unknown
    /// algorithm or quality.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"],
            [realm, nonce, challenge["opaque"] ?? ""].allSatisfy(BasicField.hasNoControls)
        else { return nil }
        var name = (challenge["algorithm"] ?? "MD5").uppercased()
        isSession = name.hasSuffix("-SESS")
        if isSession { name.removeLast(5) }
        let offered = Set(
            (challenge["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init))
        guard let algorithm = ContentDigest.Algorithm(rawValue: name),
            let quality = Quality.allCases.first(where: { offered.contains($0.rawValue) })
        else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, challenge["opaque"])
        (self.algorithm, self.quality) = (algorithm, quality)
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
    }

    /// Returns the challenge to answer, which is the first one with the strongest algorithm.
    static func best(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        let known = challenges.compactMap(DigestChallenge.init)
        return ContentDigest.Algorithm.allCases.lazy
            .compactMap { algorithm in known.first { $0.algorithm == algorithm } }.first
    }
}

/// The answers to a challenge of an origin, which share its nonce or a later one (RFC 7616, section 3.4).
struct DigestSession {
    let challenge: DigestChallenge
    /// The current nonce, from the challenge or a later response.
    var nonce: String
    /// The number of uses of the nonce.
    var count: UInt32
    /// The nonce of the client, which remains the same for one challenge.
    let clientNonce: String

    init(_ challenge: DigestChallenge, count: UInt32 = 0, clientNonce: String) {
        (self.challenge, nonce, self.count, self.clientNonce) = (challenge, challenge.nonce, count, clientNonce)
    }

    func field(_ user: String, _ password: String, _ method: String, _ target: String, body: [UInt8]) -> String {
        let number = hexadecimal(count), quality = challenge.quality.rawValue
        var key = hash("\(user):\(challenge.realm):\(password)")
        if challenge.isSession { key = hash("\(key):\(challenge.nonce):\(clientNonce)") }
        var act = "\(method):\(target)"
        if challenge.quality == .body { act += ":\(hash(body))" }
        let response = hash("\(key):\(nonce):\(number):\(clientNonce):\(quality):\(hash(act))")
        var fields = [
            name(of: user), "realm=\(challenge.realm.quoted)", "nonce=\(nonce.quoted)", "uri=\(target.quoted)",
            "response=\"\(response)\"",
            "algorithm=\(challenge.algorithm.rawValue)\(challenge.isSession ? "-sess" : "")",
            "cnonce=\(clientNonce.quoted)", "qop=\(quality)", "nc=\(number)",
        ]
        if let opaque = challenge.opaque { fields.append("opaque=\(opaque.quoted)") }
        if challenge.hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// Returns the user's name: unchanged, as a digest, or encoded if it is not ASCII (RFC 8187).
    private func name(of user: String) -> String {
        if challenge.hashesUser { return "username=\"\(hash("\(user):\(challenge.realm)"))\"" }
        if user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=\(user.quoted)" }
        return "username*=UTF-8''\(user.utf8.map(\.asAttributeCharacter).joined())"
    }

    private func hash(_ text: String) -> String { hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) -> String {
        ContentDigest.digest(of: bytes, by: challenge.algorithm).hexadecimal
    }

    private func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}

extension String {
    /// The text as a quoted string (RFC 9110, section 5.6.4).
    fileprivate var quoted: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension UInt8 {
    /// The byte in the encoding of an extended parameter (RFC 8187, section 3.2.1).
    fileprivate var asAttributeCharacter: String {
        isTokenCharacter && !"%'*".utf8.contains(self)
            ? String(UnicodeScalar(self)) : "%" + [self].hexadecimal.uppercased()
    }
}
