import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The server of the exchanges, without a network, which counts the requests that it receives.
final class ErrandServer: Sendable {
    private struct State {
        var requests: [String: Int] = [:]
        var signIns = 0
    }
    private let state = Mutex(State())

    /// The executor that answers on behalf of the server.
    var executor: MemoryExecutor {
        MemoryExecutor { request, _ in try await self.answer(request) }
    }

    /// The number of requests of each errand, by its path.
    var requests: [String: Int] { state.withLock { $0.requests } }
    /// The number of times that an account was signed in.
    var signIns: Int { state.withLock { $0.signIns } }

    private static let origin = "http://errands.test"
    /// The URL that is answered with a token.
    static let tokens = origin + "/token"

    /// Returns whether an errand's exchange outside a call ends only with the swap.
    static func isEndless(_ number: Int) -> Bool { number % 50 == 1 }

    private func answer(_ request: HTTPRequest) async throws -> HTTPStreamedResponse {
        if request.url == Self.tokens {
            state.withLock { $0.signIns += 1 }
            return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(#"{"token": "valid"}"#.utf8)))
        }
        let place = String(request.url.dropFirst(Self.origin.count))
        let number = place.split(separator: "/").last.flatMap { Int($0) } ?? 0
        if place.hasPrefix("/transfer/") {
            state.withLock { $0.requests[place, default: 0] += 1 }
            try await Task.sleep(for: .milliseconds(10))
            return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("\(number)".utf8)))
        }
        guard request.headers["Authorization"] == "Bearer valid" else {
            return HTTPStreamedResponse(HTTPResponse(status: 401))
        }
        state.withLock { $0.requests[place, default: 0] += 1 }
        if place.hasPrefix("/inside/") {
            try await Task.sleep(for: .milliseconds(1))
        } else {
            try await Task.sleep(for: Self.isEndless(number) ? .seconds(3_600) : .milliseconds(10))
        }
        return HTTPStreamedResponse(HTTPResponse(status: 204))
    }
}
