package import Backplane

/// A function around loads or around their attempts, which may change, measure, refuse or answer requests.
///
/// ```swift
/// http.defaults.interceptors.append(HTTPInterceptor { request, next in
///     var named = request
///     named.headers["X-Reader"] = reader
///     return try await next(named)
/// })
/// let signer = HTTPInterceptor(.attempt, name: "signer", hosts: ["books.example.org"]) { request, next in
///     var signed = request
///     signed.headers["Signature"] = try signature(of: request)
///     return try await next(signed)
/// }
/// let network = HTTPPipeline([executor], interceptors: [signer])
/// ```
///
/// An interceptor may throw an error, which ends the exchange. It may also return its own response without calling
/// `next`; that response is treated like any other. The first interceptor of a list is the outermost. Interceptors of a
/// client and of an endpoint intercept its loads; interceptors of a pipeline intercept all exchanges except requests
/// for tokens.
public struct HTTPInterceptor: Sendable {
    /// The part of an exchange that an interceptor surrounds.
    public enum Place: Sendable {
        /// Around the whole exchange, with its retries and redirects.
        case load
        /// Around each attempt and each redirected request, next to the executor.
        ///
        /// The interceptor may add header fields on which the response does not depend. A changed body has no effect,
        /// and other changes are errors. The interceptor sees neither the fields of a credential nor cookies. Clients
        /// in plugins refuse such an interceptor; in a plugin, a manager provides ``Intercepting`` instead.
        case attempt
    }
    /// The rest of the chain: the next interceptor, and finally the exchange or the attempt.
    ///
    /// The function returns once the head of the response has arrived. Around the load of a file, it returns once the
    /// file is complete, with a response without a body. Around a load, another call makes another exchange.
    public typealias Next = @Sendable (HTTPRequest) async throws -> HTTPStreamedResponse
    /// The form of an interceptor: a function at its place, or a manager, which is looked up for each exchange.
    package enum Form: Sendable {
        case function(Place, @Sendable (HTTPRequest, Next) async throws -> HTTPStreamedResponse)
        case manager(@Sendable (Call) async throws -> InterceptingManager)
    }
    package let name: String?
    package let form: Form
    /// The names of the hosts in the form in which they are compared; empty for every host.
    private let hosts: Set<String>

    /// Creates an interceptor from its function.
    public init(
        _ place: Place = .load, name: String? = nil, hosts: Set<String> = [],
        _ intercept: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPStreamedResponse
    ) {
        (self.name, form, self.hosts) = (name, .function(place, intercept), Set(hosts.map(\.hostKey)))
    }

    package init(
        manager: String, hosts: Set<String>, _ find: @escaping @Sendable (Call) async throws -> InterceptingManager
    ) {
        (name, form, self.hosts) = (manager, .manager(find), Set(hosts.map(\.hostKey)))
    }

    package func applies(to request: HTTPRequest) -> Bool { hosts.isEmpty || hosts.contains(request.hostName) }
}

/// The functions of a manager that intercepts one exchange.
package struct InterceptingManager: Sendable {
    package var interests: Interests
    package var request: @Sendable (InterceptedRequest) async throws -> InterceptedRequest
    package var attempt: @Sendable (InterceptedRequest) async throws -> HTTPHeaders

    package init(
        _ interests: Interests, request: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedRequest,
        attempt: @escaping @Sendable (InterceptedRequest) async throws -> HTTPHeaders
    ) {
        (self.interests, self.request, self.attempt) = (interests, request, attempt)
    }
}

extension [HTTPInterceptor] {
    func around(_ exchange: @escaping HTTPInterceptor.Next) -> HTTPInterceptor.Next {
        reversed().reduce(exchange) { next, interceptor in
            guard case .function(.load, let intercept) = interceptor.form else { return next }
            return { request in
                interceptor.applies(to: request) ? try await intercept(request, next) : try await next(request)
            }
        }
    }

    /// The interceptors around attempts, which the pipeline runs.
    var aroundAttempts: [HTTPInterceptor] {
        filter { if case .function(.attempt, _) = $0.form { true } else { false } }
    }
}
