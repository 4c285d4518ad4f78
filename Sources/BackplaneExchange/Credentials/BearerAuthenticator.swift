import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The scheme bearer (RFC 6750), whose token is requested only once for all waiting requests.
final class BearerAuthenticator: Authenticator {
    private struct State {
        var token: BearerToken?
        var renewal: Task<BearerToken, any Error>?
    }
    private enum Step {
        case use(Secret)
        case wait(Task<BearerToken, any Error>)
    }
    /// The time limit of a token request.
    static let limit = Duration.seconds(60)

    private let source: TokenSource
    private let date: @Sendable () -> Date
    private let state: Mutex<State>
    /// A function that stores each new token, until the account is closed.
    private let keep: Mutex<(@Sendable (BearerToken) throws -> Void)?>

    init(
        _ source: TokenSource, _ token: BearerToken?, date: @escaping @Sendable () -> Date,
        keep: @escaping @Sendable (BearerToken) throws -> Void
    ) {
        (self.source, self.date) = (source, date)
        state = Mutex(State(token: token))
        self.keep = Mutex(keep)
    }

    func prepare(_ request: HTTPRequest, _ call: Call, over network: HTTPPipeline) async throws -> HTTPRequest {
        request.authorized("Bearer \(try await token(instead: nil, over: network).revealed)")
    }

    func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool {
        guard response.status == 401, failures == 0 else { return false }
        return state.withLock { state in
            state.renewal != nil || state.token?.value != sent.bearerToken || canRenew(state.token)
        }
    }

    func answer(
        _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
        over network: HTTPPipeline
    ) async throws -> HTTPRequest? {
        request.authorized("Bearer \(try await token(instead: sent.bearerToken, over: network).revealed)")
    }

    /// Closes the account; tokens that arrive later are not stored.
    func close() {
        keep.withLock { $0 = nil }
        state.withLock { $0.token = nil }
    }

    /// Returns the token, or waits for another one if it was rejected or is about to expire.
    private func token(instead refused: Secret?, over network: HTTPPipeline) async throws -> Secret {
        let now = date()
        let step = state.withLock { state -> Step in
            if let token = state.token, token.value != refused, token.renewal.map({ $0 > now }) ?? true {
                return .use(token.value)
            }
            if let renewal = state.renewal { return .wait(renewal) }
            let old = state.token
            // The deadline or cancellation of one request does not end the renewal for which others wait.
            let renewal = Task { try await self.renewed(old, over: network) }
            state.renewal = renewal
            return .wait(renewal)
        }
        switch step {
        case .use(let token): return token
        case .wait(let renewal): return try await Race.run({ try await renewal.value }, watchedBy: { nil }).value
        }
    }

    private func renewed(_ old: BearerToken?, over network: HTTPPipeline) async throws -> BearerToken {
        do {
            let token = try await another(old, over: network)
            // Requests do not wait for the disk, and do not fail if it is full: the next token is stored again.
            keep.withLock { keep in try? keep?(token) }
            state.withLock { ($0.token, $0.renewal) = (token, nil) }
            return token
        } catch {
            state.withLock { state in
                state.renewal = nil
                // A rejected refresh token is of no further use.
                if (error as? BackplaneError)?.isRefusal == true, state.token == old { state.token?.refreshToken = nil }
            }
            throw error
        }
    }

    /// Requests another token with a refresh, or with a sign-in if a refresh is rejected or impossible.
    private func another(_ old: BearerToken?, over network: HTTPPipeline) async throws -> BearerToken {
        if let function = source.function { return try await Self.token(of: function, by: network.clock) }
        if let refresh = source.refresh, let old, canRefresh(old) {
            do {
                var token = try await Self.ask(refresh, old.values, source, date, over: network)
                token.refreshToken = token.refreshToken ?? old.refreshToken  // RFC 6749, section 6
                return token
            } catch let error as BackplaneError where error.isRefusal && canSignIn {}
        }
        guard let signIn = source.signIn, canSignIn else { throw BackplaneError.signedOut }
        return try await Self.ask(signIn, [:], source, date, over: network)
    }

    static func ask(
        _ request: TokenRequest, _ values: [String: Secret], _ source: TokenSource, _ date: @Sendable () -> Date,
        over network: HTTPPipeline
    ) async throws -> BearerToken {
        var source = source
        source.token = request.token ?? source.token
        source.expires = request.expires ?? source.expires
        source.refreshToken = request.refreshToken ?? source.refreshToken
        var secrets = request.texts + values.values
        let request = try request.request(with: values)
        // Keys of APIs are parameters.
        secrets +=
            WebURL(request.url)?.query?.split(separator: "&").map { field in
                Secret(String(decoding: String(field.drop { $0 != "=" }.dropFirst()).percentDecoded, as: UTF8.self))
            } ?? []
        var options = HTTPOptions()
        (options.totalTimeout, options.isSignIn, options.hidesBodies) = (limit, true, true)
        let response = try await network.send(request, upTo: BearerToken.mostAnswerBytes, options)
        return try BearerToken(response, to: request, source, secrets: secrets, now: date())
    }

    private static func token(
        of function: TokenSource.Function, by clock: any DeadlineClock
    ) async throws -> BearerToken {
        func failed(_ why: String, _ cause: (any Error)? = nil) -> BackplaneError {
            BackplaneError(
                .networkSignIn, "the program's function for tokens \(why)",
                causes: cause.map { [BackplaneError(thrown: $0)] } ?? [])
        }
        let late = failed("has not returned within \(limit)"), text: String
        do {
            text = try await Race.run(by: clock, function.call, within: limit, otherwise: late)
        } catch let error as BackplaneError where error.code == .networkSignIn {
            throw error
        } catch {
            throw failed("has failed: \(BackplaneError(thrown: error).message)", error)
        }
        guard let token = BearerToken.token(text) else {
            throw failed(
                "has returned a token that is empty, longer than \(BearerToken.mostBytes >> 10) KB, or not of visible ASCII characters"
            )
        }
        return BearerToken(token)
    }

    /// Whether a token can be requested without the values of a sign-in.
    private var canSignIn: Bool { source.function != nil || source.signIn?.names.isEmpty == true }

    private func canRefresh(_ token: BearerToken) -> Bool {
        source.refresh?.names.isSubset(of: token.values.keys) == true
    }

    private func canRenew(_ token: BearerToken?) -> Bool { canSignIn || token.map(canRefresh) == true }
}

extension BearerToken {
    fileprivate var values: [String: Secret] {
        var values = ["token": value]
        values["refreshToken"] = refreshToken
        return values
    }
}

extension HTTPRequest {
    fileprivate var bearerToken: Secret? {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return nil }
        return Secret(String(authorization.dropFirst(7)))
    }
}

extension BackplaneError {
    /// Whether a server rejected a token request, as opposed to the request failing.
    fileprivate var isRefusal: Bool { code == .networkSignIn && [400, 401, 403].contains(httpStatus) }

    static var signedOut: BackplaneError {
        BackplaneError(
            .networkSignIn, "the account's token has expired and cannot be refreshed; sign in again with `signIn`")
    }
}

struct BearerToken: Sendable, Equatable {
    var value: Secret
    var refreshToken: Secret?
    /// The time after which the token is renewed before it is used; `nil` means once it is rejected.
    var renewal: Date?

    /// The maximum size of a token: the size of the longest header field that servers accept.
    static let mostBytes = 16 << 10
    static let mostAnswerBytes = 256 << 10

    init(_ value: Secret, refreshToken: Secret? = nil, renewal: Date? = nil) {
        (self.value, self.refreshToken, self.renewal) = (value, refreshToken, renewal)
    }

    /// Parses the token in a response.
    ///
    /// - Parameter secrets: The values of the request. An explanation of the server that contains one of them is not
    ///   shown.
    init(
        _ response: HTTPResponse, to request: HTTPRequest, _ source: TokenSource, secrets: [Secret] = [], now: Date
    ) throws(BackplaneError) {
        func failed(_ why: String) -> BackplaneError {
            BackplaneError(.networkSignIn, "the sign-in failed: \(why)", at: request.printableURL)
        }
        guard (200..<300).contains(response.status) else {
            let said = Self.explanation(response.body, secrets).map { " and said `\($0)`" } ?? ""
            var error = failed("the server answered with status \(response.status)\(said)")
            error.failure = .http(response.status)
            throw error
        }
        guard !response.body.isEmpty else { throw failed("the response is empty; expected JSON with a token") }
        guard let answer = try? DocumentValue(json: Data(response.body)) else {
            throw failed("the response is not JSON; expected JSON with a token at `\(source.token)`")
        }
        guard case .string(let text)? = answer[pointer: source.token] else {
            throw failed("the response has no string at `\(source.token)`, where the token is expected")
        }
        guard let value = Self.token(text) else {
            throw failed(
                "the token at `\(source.token)` is empty, longer than \(Self.mostBytes >> 10) KB, or not of visible ASCII characters"
            )
        }
        self.value = value
        if let pointer = source.refreshToken, case .string(let text)? = answer[pointer: pointer] {
            refreshToken = text.isEmpty || text.utf8.count > Self.mostBytes ? nil : Secret(text)
        }
        let server = response.headers["Date"].flatMap { Date(httpDate: $0) }
        renewal = source.expires.flatMap { answer[pointer: $0] }.flatMap { Self.lifetime($0, server: server ?? now) }
            .map { now + $0 - min(30, $0 / 10) }
    }

    /// Returns the server's explanation of a refusal; `nil` if there is none, or it repeats a secret.
    ///
    /// The explanation is the `error_description` or `error` of RFC 6749, section 5.2, or the message of an error that
    /// is an object.
    private static func explanation(_ body: [UInt8], _ secrets: [Secret]) -> String? {
        guard case .dictionary(let answer)? = try? DocumentValue(json: Data(body)) else { return nil }
        var said = answer["error_description"] ?? answer["error"]
        if case .dictionary(let error)? = said { said = error["message"] }
        guard case .string(let text)? = said, !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            !secrets.contains(where: { !$0.revealed.isEmpty && text.contains($0.revealed) })
        else { return nil }
        return String(text.prefix(200))
    }

    static func token(_ text: String) -> Secret? {
        guard (1...mostBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        return Secret(text)
    }

    /// Returns the remaining lifetime of a token in seconds; `nil` if it is unknown or has already passed.
    ///
    /// A point in time refers to the server's clock, which may be wrong, so it is compared with the server's own
    /// `Date`.
    ///
    /// - Parameters:
    ///   - value: The number of seconds until the expiry, the seconds since 1970 (if they exceed ten years), or a date
    ///     (RFC 3339).
    ///   - server: The time of the server.
    private static func lifetime(_ value: DocumentValue, server: Date) -> Double? {
        let seconds: Double
        switch value {
        case .integer(let number): seconds = Double(number)
        case .number(let number): seconds = number
        case .string(let text):
            if let number = text.wholeNumber.map(Double.init) {
                seconds = number
            } else if let date = timestamp(text) {
                return after(date.timeIntervalSince(server))
            } else {
                return nil
            }
        default: return nil
        }
        let tenYears = 315_360_000.0
        return after(seconds > tenYears ? seconds - server.timeIntervalSince1970 : seconds)
    }

    private static func after(_ seconds: Double) -> Double? { seconds.isFinite && seconds > 0 ? seconds : nil }

    private static func timestamp(_ text: String) -> Date? {
        (try? Date(text, strategy: Date.ISO8601FormatStyle()))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

extension DocumentValue {
    /// The value at a JSON pointer (RFC 6901).
    fileprivate subscript(pointer pointer: String) -> DocumentValue? {
        guard !pointer.isEmpty else { return self }
        var value = self
        for step in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let key = String(step).replacing("~1", with: "/").replacing("~0", with: "~")
            switch value {
            case .dictionary(let members):
                guard let member = members[key] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Int(key), elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }
}
