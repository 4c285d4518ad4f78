import Backplane
import BackplaneNetwork
import FoundationEssentials
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

/// The `Authorization` field for a user and a password (RFC 7617).
enum BasicField {
    /// Returns the field's value; the user and the password are encoded in UTF-8, regardless of the server's charset.
    static func value(user: String, password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }

    /// Returns whether a string can be a user name: it contains no control characters and no colon, which would
    /// terminate it.
    static func canBeUser(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: ":")) && hasNoControls(name)
    }

    static func hasNoControls(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
