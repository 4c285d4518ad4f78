import Backplane
import BackplaneExchange
import BackplaneNetwork

extension NetworkManagers {
    /// Returns the functions of an authenticating manager for one request.
    func authenticator(_ manager: String, _ call: Call) async throws -> SchemeAuthenticator.Ready {
        let remote = try await find(manager, as: Authenticating.self)
        return SchemeAuthenticator.Ready(
            digests: try await remote.digests(call),
            prepare: { head in try HTTPHeaders(pairs: try await remote.prepare(head, call)) },
            answer: { head in try HTTPHeaders(pairs: try await remote.answer(head, call)) })
    }
}
