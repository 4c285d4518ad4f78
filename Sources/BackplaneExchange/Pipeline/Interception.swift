import Backplane
public import BackplaneNetwork
import Synchronization

/// The interceptors of one exchange, around its load and around each of its attempts.
///
/// No interceptor sees the fields of a credential, or the requests for tokens.
struct Interception: Sendable {
    private let interceptors: [HTTPInterceptor]
    private let call: Call
    /// Whether a credential adds fields, which attempts hide from interceptors.
    private let hidesProof: Bool

    init(_ interceptors: [HTTPInterceptor], _ options: HTTPOptions, hidesProof: Bool) {
        // A token request belongs to the credential: interceptors must not send it elsewhere.
        (self.interceptors, call) = (options.isSignIn ? [] : interceptors, options.call ?? Call())
        self.hidesProof = hidesProof
    }

    func load(
        _ request: HTTPRequest, _ exchange: @escaping HTTPInterceptor.Next
    ) async throws -> HTTPStreamedResponse {
        let chain = interceptors.reversed().reduce(exchange) { next, interceptor in
            { request in try await load(request, interceptor, next) }
        }
        return try await chain(request)
    }

    private func load(
        _ request: HTTPRequest, _ interceptor: HTTPInterceptor, _ next: @escaping HTTPInterceptor.Next
    ) async throws -> HTTPStreamedResponse {
        guard interceptor.applies(to: request) else { return try await next(request) }
        switch interceptor.form {
        case .function(.attempt, _): return try await next(request)
        case .function(.load, let intercept):
            return try await run(interceptor, intercept, request, of: request) { changed in
                { try await next(changed) }
            }
        case .manager(let find):
            let changed = try await naming(interceptor, request) {
                let manager = try await find(call)
                guard manager.interests.contains(.requests) else { return request }
                let head = try await manager.request(try await head(request, for: manager))
                var changed = request
                (changed.method, changed.url, changed.headers) = (head.method, head.url, head.headers)
                return changed
            }
            return try await next(changed)
        }
    }

    /// Makes an attempt, or one of its redirected requests, with the interceptors around it.
    func attempt(
        _ request: HTTPRequest, hiding proof: [String], _ send: @escaping HTTPInterceptor.Next
    ) async throws -> HTTPStreamedResponse {
        let chain = interceptors.reversed().reduce(send) { next, interceptor in
            { request in try await attempt(request, hiding: proof, interceptor, next) }
        }
        return try await chain(request)
    }

    private func attempt(
        _ request: HTTPRequest, hiding proof: [String], _ interceptor: HTTPInterceptor,
        _ next: @escaping HTTPInterceptor.Next
    ) async throws -> HTTPStreamedResponse {
        guard interceptor.applies(to: request) else { return try await next(request) }
        let visible = hidesProof ? request.without(proof) : request
        switch interceptor.form {
        case .function(.load, _): return try await next(request)
        case .function(.attempt, let intercept):
            return try await run(interceptor, intercept, visible, of: request) { changed in
                let added = try AddedFields.added(by: changed, to: visible)
                var sent = request
                try AddedFields.add(added, to: &sent.headers)
                return { [sent] in try await next(sent) }
            }
        case .manager(let find):
            let sent = try await naming(interceptor, request) {
                let manager = try await find(call)
                guard manager.interests.contains(.attempts) else { return request }
                var sent = request
                try AddedFields.add(try await manager.attempt(try await head(visible, for: manager)), to: &sent.headers)
                return sent
            }
            return try await next(sent)
        }
    }

    private func head(_ request: HTTPRequest, for manager: InterceptingManager) async throws -> InterceptedRequest {
        let wantsDigest = manager.interests.contains(.digest)
        return InterceptedRequest(request, digest: wantsDigest ? try await request.body.digestText() : nil)
    }

    /// Calls an interceptor's function without hidden fields, and restores them in its response.
    private func run(
        _ interceptor: HTTPInterceptor,
        _ intercept: @Sendable (HTTPRequest, HTTPInterceptor.Next) async throws -> HTTPStreamedResponse,
        _ shown: HTTPRequest, of request: HTTPRequest,
        merge: @escaping @Sendable (HTTPRequest) throws -> (@Sendable () async throws -> HTTPStreamedResponse)
    ) async throws -> HTTPStreamedResponse {
        // An error of the rest of the chain is not the interceptor's, even if the interceptor throws another one
        // instead.
        let cookies = Mutex<[String]>([]), hasFailed = Mutex(false), hidesCookies = hidesProof
        do {
            var response = try await intercept(shown) { changed in
                let rest = try merge(changed)
                do {
                    var response = try await rest()
                    if hidesCookies {
                        cookies.withLock { [values = response.headers.values("Set-Cookie")] in $0 = values }
                        response.headers["Set-Cookie"] = nil
                    }
                    return response
                } catch {
                    hasFailed.withLock { $0 = true }
                    throw error
                }
            }
            for cookie in cookies.withLock(\.self) { response.headers.add("Set-Cookie", cookie) }
            return response
        } catch  where hasFailed.withLock(\.self) {
            throw error
        } catch {
            throw Self.named(error, interceptor, request)
        }
    }

    private func naming<Value>(
        _ interceptor: HTTPInterceptor, _ request: HTTPRequest, _ step: () async throws -> Value
    ) async throws -> Value {
        do { return try await step() } catch { throw Self.named(error, interceptor, request) }
    }

    /// Returns the error of an exchange for an error of an interceptor; cancellation is unchanged.
    private static func named(
        _ error: any Error, _ interceptor: HTTPInterceptor, _ request: HTTPRequest
    ) -> any Error {
        if error is CancellationError { return error }
        var error = BackplaneError(thrown: error)
        if [.callCancelled, .callDeadline].contains(error.code) { return error }
        let subject = interceptor.name.map { "the interceptor `\($0)`" } ?? "an interceptor"
        guard error.code.rawValue.hasPrefix("network.") else {
            return BackplaneError(
                .networkRefused, "\(subject) failed: \(error.message)", at: request.printableURL, causes: [error])
        }
        (error.message, error.location) = ("\(subject): \(error.message)", error.location ?? request.printableURL)
        return error
    }
}

extension HTTPBody {
    /// Returns the SHA-256 of the body in lower-case hexadecimal digits.
    ///
    /// - Throws: `network.body` for a body that can be read only once; `network.too-large` for one of more than 64 MB.
    public func digestText() async throws -> String {
        guard isEmpty || isReplayable else { throw BackplaneError.digestOfStream }
        return ContentDigest.sha256(of: try await collected(upTo: HTTPOptions.collectionLimit).bytes ?? []).hexadecimal
    }
}

extension BackplaneError {
    static var digestOfStream: BackplaneError {
        BackplaneError(.networkBody, "the digest of the body is needed, but the body can be read only once")
    }
}

extension HTTPRequest {
    fileprivate func without(_ proof: [String]) -> HTTPRequest {
        var request = self
        for name in ["Authorization", "Cookie"] + proof { request.headers[name] = nil }
        return request
    }
}

/// The rules for the fields that are added to an attempt, which may neither vary the response nor replace other fields.
enum AddedFields {
    static func added(by changed: HTTPRequest, to request: HTTPRequest) throws(BackplaneError) -> HTTPHeaders {
        guard changed.method == request.method, changed.url == request.url else {
            throw refused("it changes the method or the URL of an attempt; do so around the load")
        }
        var fields = changed.headers.fields
        for own in request.headers.fields {
            guard let place = fields.firstIndex(where: { $0.name == own.name && $0.value == own.value }) else {
                throw refused("it changes the field `\(own.name)` of an attempt; do so around the load")
            }
            fields.remove(at: place)
        }
        var added: HTTPHeaders = [:]
        for field in fields { added.add(field.name, field.value) }
        return added
    }

    /// Adds fields to a head.
    ///
    /// An attempt accepts only fields that do not vary the response; a proof accepts all but the fields that frame the
    /// message.
    static func add(
        _ fields: HTTPHeaders, to headers: inout HTTPHeaders, areProof: Bool = false
    ) throws(BackplaneError) {
        let own = headers, has = areProof ? "its proof has" : "it adds"
        for field in fields.fields {
            let name = field.name.lowercased()
            guard own[name] == nil else {
                throw refused("\(has) the field `\(field.name)`, which the request already has")
            }
            guard !areProof || !framing.contains(name) else {
                throw refused("\(has) the field `\(field.name)`, which belongs to the exchange and not to a proof")
            }
            guard areProof || isHarmless(name) else {
                throw refused(
                    "\(has) the field `\(field.name)` to an attempt, which would change the response; "
                        + "set it around the load")
            }
            headers.add(field.name, field.value)
        }
    }

    private static func isHarmless(_ name: String) -> Bool {
        !names.contains(name) && !prefixes.contains(where: name.hasPrefix)
    }

    /// The names of fields that select a response, are credentials, or frame the message (RFC 9110, sections 6 to 14).
    private static let names: Set<String> = [
        "accept", "authorization", "cache-control", "connection", "content-encoding", "content-language",
        "content-length", "content-location", "content-range", "content-type", "cookie", "expect", "host", "keep-alive",
        "max-forwards", "pragma", "prefer", "proxy-authorization", "range", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    /// The names of fields that frame the message or are sent by an account's cookie jar.
    private static let framing: Set<String> = [
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    private static let prefixes = ["accept-", "if-"]

    private static func refused(_ why: String) -> BackplaneError { BackplaneError(.networkRefused, why) }
}
