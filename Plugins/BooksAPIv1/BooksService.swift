import Backplane
import BackplaneNetwork
import BookshelfContracts

/// A client of `/v1`, where all authors are one string and books cannot be borrowed.
final class BooksService: NetworkService {
    typealias Provides = BooksAPI
    struct Configuration: Decodable, Sendable {
        /// The root of the API, such as `http://127.0.0.1:8484/v1`.
        var baseURL: String
    }
    private let baseURL: String
    private let http: HTTPClient

    init(_ context: Context) {
        (baseURL, http) = (context.configuration.baseURL, context.http)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { service, words, call in try await service.search(words, call) }
        table.async(\.borrow) { _, _, _ in throw NotInThisVersion() }
        table.async(\.giveBack) { _, _, _ in throw NotInThisVersion() }
        table.stream(\.events) { _, _, _, _ in throw NotInThisVersion() }
        table.async(\.page) { _, _, _ in throw NotInThisVersion() }
        table.async(\.browse) { _, _, _ in throw NotInThisVersion() }
        table.async(\.cover) { _, _, _ in throw NotInThisVersion() }
        table.stream(\.text) { _, _, _, _ in throw NotInThisVersion() }
    }

    private func search(_ words: String, _ call: Call) async throws -> [Book] {
        let response = try await http.send(HTTPRequest("GET", "\(baseURL)/search?q=\(words.encodedForQuery)"), call)
        return try response.decoded([FlatBook].self).map(\.book)
    }

    struct NotInThisVersion: ComponentError {
        var code: String { "books.not-in-v1" }
        var message: String {
            "version 1 of the books API supports neither loans nor events nor texts; request `\"version\": "
                + "\"[2.0,3.0)\"` in the manifest"
        }
    }
}
