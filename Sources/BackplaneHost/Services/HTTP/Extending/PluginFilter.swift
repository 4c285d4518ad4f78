import Backplane
import BackplaneExchange
import BackplaneNetwork

extension ExchangeFilter {
    /// Creates the filter of an exchange from a manager of a plugin.
    init(_ settings: NetworkFilter, _ managers: NetworkManagers) {
        self.init(
            settings.manager, hosts: Set(settings.hosts),
            ready: { call in
                let remote = try await managers.find(settings.manager, as: ExchangeFiltering.self)
                return Ready(
                    try await remote.interests(call), request: { head in try await remote.request(head, call) },
                    attempt: { head in try HTTPHeaders(pairs: try await remote.attempt(head, call)) })
            })
    }
}
