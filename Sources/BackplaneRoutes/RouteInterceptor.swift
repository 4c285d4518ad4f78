public import Backplane
import BackplaneNetwork
import FoundationEssentials

/// A function around the handlers of a group's routes, which may change requests and answers, or answer by itself.
///
/// An interceptor sees the status and the header fields of an answer in pieces. If it changes the status or sets a
/// body, its own answer is sent instead.
public struct RouteInterceptor<C: Sendable>: Sendable {
    /// The function that passes a request on, and returns its answer.
    public typealias Next = nonisolated(nonsending) (RouteRequest) async throws -> RouteResponse
    /// A function that receives the component, a request, the next function and the frame to pass on to other calls.
    public typealias Body =
        nonisolated(nonsending) @Sendable (C, RouteRequest, Next, Call) async throws -> RouteResponse
    let body: Body
    /// A Boolean value that indicates whether the interceptor answers the preflight requests of browsers.
    private(set) var answersPreflights = false
    /// The mistake in the arguments, in a sentence.
    private(set) var problem: String?

    private init(_ body: @escaping Body) { self.body = body }

    /// Returns an interceptor that runs a function.
    ///
    /// ```swift
    /// routes.group("/reports", .intercepted { me, request, next, call in
    ///     var response = try await next(request)
    ///     response.headers["Cache-Control"] = "max-age=60"
    ///     return response
    /// }) { … }
    /// ```
    public static func intercepted(_ body: @escaping Body) -> RouteInterceptor { RouteInterceptor(body) }

    /// Returns an interceptor that accepts requests with a token (RFC 6750), and answers others with the status 401.
    ///
    /// - Parameters:
    ///   - realm: The name of the protected area.
    ///   - verify: A function that returns the identity of a token's owner, which becomes ``RouteRequest/user``; `nil`
    ///     for a token that is not valid.
    public static func bearer(
        realm: String = "routes",
        _ verify: nonisolated(nonsending) @escaping @Sendable (C, _ token: String, Call) async throws -> String?
    ) -> RouteInterceptor {
        RouteInterceptor { me, request, next, call in
            guard let token = request.credentials("bearer"), let user = try await verify(me, token, call) else {
                throw RouteProblem(401, headers: ["WWW-Authenticate": "Bearer realm=\"\(realm)\""])
            }
            var request = request
            request.user = user
            return try await next(request)
        }
    }

    /// Returns an interceptor that accepts requests with a name and a password (RFC 7617), and answers others with the
    /// status 401.
    ///
    /// - Parameters:
    ///   - realm: The name of the protected area, which browsers show.
    ///   - verify: A function that returns whether a name and a password are valid; the name becomes
    ///     ``RouteRequest/user``.
    public static func basic(
        realm: String = "routes",
        _ verify:
            nonisolated(nonsending) @escaping @Sendable (
                C, _ name: String, _ password: String, Call
            ) async throws -> Bool
    ) -> RouteInterceptor {
        RouteInterceptor { me, request, next, call in
            guard let (name, password) = request.namedCredentials, try await verify(me, name, password, call) else {
                let challenge = "Basic realm=\"\(realm)\", charset=\"UTF-8\""
                throw RouteProblem(401, headers: ["WWW-Authenticate": challenge])
            }
            var request = request
            request.user = name
            return try await next(request)
        }
    }

    /// Returns an interceptor that lets pages of other origins send requests (Fetch, section 3.2), and answers their
    /// preflight requests.
    ///
    /// It comes before an authentication, because preflight requests have no credentials.
    ///
    /// - Parameters:
    ///   - origins: The origins, such as `https://example.org`; or `*` for any.
    ///   - headers: The names of the header fields that requests may have.
    ///   - exposed: The names of the answer's header fields that scripts may read.
    ///   - allowsCredentials: A Boolean value that indicates whether requests may have cookies. It cannot be combined
    ///     with `*`.
    ///   - maxAge: The time for which browsers remember the answer to a preflight request.
    public static func cors(
        origins: [String], headers: [String] = ["Authorization", "Content-Type"], exposed: [String] = [],
        allowsCredentials: Bool = false, maxAge: Duration = .seconds(600)
    ) -> RouteInterceptor {
        let isForAny = origins.contains("*")
        var interceptor = RouteInterceptor { _, request, next, _ in
            let origin = request.headers["Origin"].flatMap { isForAny || origins.contains($0) ? $0 : nil }
            let method = request.headers["Access-Control-Request-Method"]
            let isPreflight = request.method == "OPTIONS" && method != nil
            var response = RouteResponse.empty()
            if !isPreflight {
                // Scripts may also read the problem.
                do { response = try await next(request) } catch let problem as RouteProblem {
                    response = problem.response
                }
            }
            if !isForAny { response.headers.add("Vary", "Origin") }
            guard let origin else { return response }
            response.headers["Access-Control-Allow-Origin"] = isForAny ? "*" : origin
            if allowsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
            if isPreflight {
                response.headers["Access-Control-Allow-Methods"] = method
                response.headers["Access-Control-Allow-Headers"] = headers.joined(separator: ", ")
                response.headers["Access-Control-Max-Age"] = "\(maxAge.components.seconds)"
            } else if !exposed.isEmpty {
                response.headers["Access-Control-Expose-Headers"] = exposed.joined(separator: ", ")
            }
            return response
        }
        interceptor.answersPreflights = true
        if isForAny, allowsCredentials {
            interceptor.problem = "browsers do not send credentials if any origin is allowed; list the origins"
        }
        return interceptor
    }

    /// Returns an interceptor that answers requests with a longer body with the status 413.
    ///
    /// - Parameter limit: The maximum number of bytes.
    public static func limit(body limit: Int64) -> RouteInterceptor {
        RouteInterceptor { _, request, next, _ in
            guard try request.bodyStream.length ?? 0 <= limit else {
                throw RouteProblem(413, "the body has more than \(limit) bytes, which is the limit")
            }
            return try await next(request)
        }
    }
}

extension RouteRequest {
    /// Returns the credentials of a scheme, given in lower case (RFC 9110, section 11.4).
    fileprivate func credentials(_ scheme: String) -> String? {
        guard var reader = headers["Authorization"].map({ FieldReader($0) }),
            reader.take(while: \.isTokenCharacter).lowercased() == scheme
        else { return nil }
        reader.skipBlanks()
        let credentials = reader.take { _ in true }
        return credentials.isEmpty ? nil : credentials
    }

    fileprivate var namedCredentials: (name: String, password: String)? {
        guard let bytes = credentials("basic").flatMap({ Data(base64Encoded: $0) }),
            let text = String(validating: bytes, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }
}
