import Backplane
import BackplaneNetwork
import Synchronization

/// The scheme Basic (RFC 7617), applied preemptively or in response to a challenge.
final class BasicAuthenticator: Authenticator {
    private let value: Secret
    /// The origins to which the field is sent without a challenge; `nil` means all.
    private let asked: Mutex<Origins?>

    init(user: String, password: Secret, isPreemptive: Bool) {
        value = Secret(BasicField.value(user: user, password: password.revealed))
        asked = Mutex(isPreemptive ? nil : Origins())
    }

    func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) -> HTTPRequest {
        let isWanted = asked.withLock { $0?.contains(request) ?? true }
        return isWanted ? request.authorized(value.revealed) : request
    }

    func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool {
        response.status == 401 && sent.authorization == nil
            && AuthenticationChallenge.challenges(in: response.headers).contains { $0.scheme == "basic" }
    }

    func answer(
        _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
        over network: HTTPPipeline
    ) -> HTTPRequest? {
        asked.withLock { $0?.insert(request) }
        return request.authorized(value.revealed)
    }
}

/// A set of origins that retains the latest hundred.
struct Origins {
    private static let most = 100
    private var origins: [HTTPOrigin] = []

    func contains(_ request: HTTPRequest) -> Bool { HTTPOrigin(request.url).map(origins.contains) ?? false }

    mutating func insert(_ request: HTTPRequest) {
        guard let origin = HTTPOrigin(request.url), !origins.contains(origin) else { return }
        if origins.count >= Self.most { origins.removeFirst() }
        origins.append(origin)
    }
}
