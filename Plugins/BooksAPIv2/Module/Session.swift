import Backplane
import BackplaneNetwork
import BookshelfContracts

/// A reader's session: requests a bearer token on first use, and once more when the server rejects it.
actor Session {
    private let configuration: BooksConfiguration
    private let http: HTTPClient
    private var token: String?

    init(_ configuration: BooksConfiguration, _ http: HTTPClient) {
        (self.configuration, self.http) = (configuration, http)
    }

    /// Returns an endpoint whose request has the token.
    nonisolated func signing<Response>(_ endpoint: Endpoint<Response>, _ call: Call) -> Endpoint<Response> {
        var endpoint = endpoint
        endpoint.interceptors.append(
            HTTPInterceptor { request, next in
                var signed = request
                let token = try await self.token(call, otherThan: nil)
                signed.headers["Authorization"] = "Bearer \(token)"
                let response = try await next(signed)
                guard response.status == 401 else { return response }
                response.body.cancel()
                signed.headers["Authorization"] = "Bearer \(try await self.token(call, otherThan: token))"
                return try await next(signed)
            })
        return endpoint
    }

    /// Returns the value of a request's field that says who reads.
    func authorization(_ call: Call) async throws -> String {
        "Bearer \(try await token(call, otherThan: nil))"
    }

    private func token(_ call: Call, otherThan rejected: String?) async throws -> String {
        if let token, token != rejected { return token }
        guard let reader = configuration.reader, let password = configuration.password else { throw NoReader() }
        let signIn = Endpoint<Opened>("POST", "sessions", body: try .json(["reader": reader, "password": password]))
        let new = try await http.load(signIn, call).token
        token = new
        return new
    }

    private struct Opened: Decodable {
        var token: String
    }

    struct NoReader: ComponentError {
        var code: String { "books.no-reader" }
        var message: String { "nobody has signed in; give `reader` and `password` in the service's configuration" }
    }
}
