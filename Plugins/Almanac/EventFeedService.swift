import Backplane
import BackplaneNetwork
import FoundationEssentials

/// The network service of the almanac, which reads a list of events from a URL.
final class EventFeedService: NetworkService {
    typealias Provides = EventFeed
    struct Configuration: Decodable, Sendable {
        var url: String
    }
    private let url: String
    private let http: HTTPClient

    init(_ context: Context) {
        (url, http) = (context.configuration.url, context.http)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.events) { service, _, call in try await service.events(call) }
    }

    private func events(_ call: Call) async throws -> [Event] {
        let response = try await http.send(HTTPRequest("GET", url), call)
        guard response.status == 200 else { throw Unusable(url: url, reason: "status \(response.status)") }
        do {
            return try JSONDecoder().decode([Event].self, from: Data(response.body))
        } catch {
            throw Unusable(url: url, reason: "\(error)")
        }
    }

    struct Unusable: ComponentError {
        var url: String, reason: String
        var code: String { "almanac.feed-unusable" }
        var message: String { "\(url) did not return a list of events: \(reason)" }
    }
}
