import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

/// A reader's session: requests a bearer token on first use, and once more when the server rejects it.
actor Session {
    private let baseURL: String
    private let reader, password: String?
    private let http: HTTPClient
    private var token: String?

    init(baseURL: String, reader: String?, password: String?, http: HTTPClient) {
        (self.baseURL, self.reader, self.password, self.http) = (baseURL, reader, password, http)
    }

    func send(_ method: String, _ path: String, _ body: Data?, _ call: Call) async throws -> HTTPResponse {
        let first = try await attempt(method, path, body, try await validToken(call), call)
        guard first.status == 401 else { return first }
        token = nil
        return try await attempt(method, path, body, try await validToken(call), call)
    }

    private func attempt(_ method: String, _ path: String, _ body: Data?, _ token: String, _ call: Call) async throws
        -> HTTPResponse
    {
        var request = HTTPRequest(method, baseURL + path, headers: ["Authorization": "Bearer \(token)"])
        if let body {
            request.body = .bytes(Array(body), type: "application/json")
        }
        return try await http.send(request, call)
    }

    private func validToken(_ call: Call) async throws -> String {
        if let token { return token }
        guard let reader, let password else { throw NoReader() }
        let body = try JSONEncoder().encode(["reader": reader, "password": password])
        let request = HTTPRequest(
            "POST", "\(baseURL)/sessions", headers: ["Content-Type": "application/json"], body: Array(body))
        let new = try await http.send(request, call).decoded(SessionAnswer.self).token
        token = new
        return new
    }

    private struct SessionAnswer: Decodable {
        var token: String
    }

    struct NoReader: ComponentError {
        var code: String { "books.no-reader" }
        var message: String { "nobody has signed in; give `reader` and `password` in the service's configuration" }
    }
}
