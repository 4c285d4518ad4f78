import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneOperations
import BackplaneOperationsNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import BackplaneURLSession
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Intellex's README: requests apart from operations, both graphs, and files that are subscribed to by their ids.
@Suite(.timeLimit(.minutes(1)))
struct `Intellex's README` {
    struct Category: Codable, Sendable, Equatable {
        var id: Int
    }
    struct Notification: Codable, Sendable, Equatable {
        var category: Int
        var text: String
    }

    /// The requests of the application, apart from what is done with them.
    enum Requests {
        static let categories = Endpoint<[Category]>("GET", "categories")

        static func notifications(of categories: [Category]) -> Endpoint<[Notification]> {
            Endpoint("GET", "notifications", query: ["ids": categories.map { "\($0.id)" }.joined(separator: ",")])
        }
    }

    /// A service, which owns a queue and offers functions that each run a graph.
    final class CategoryService: Sendable {
        let queue = GraphQueue(width: 4)
        let log = Recording<String>()
        private let http: HTTPClient

        init(_ http: HTTPClient) { self.http = http }

        /// Loads the categories and stores them, then their notifications, and hides the indicator at last.
        func synchronise() async throws -> String {
            let log = log
            var graph = GraphBuilder("synchronise")
            let categories = graph.load("categories", Requests.categories, on: http)
            graph.onSuccess(of: categories) { categories, status in
                log.add("\(categories.count) categories, \(status.code ?? 0)")
            }
            graph.onFailure(of: categories) { error, status in log.add("\(error.code), \(status.code ?? 0)") }
            let stored = graph.add("store categories", after: categories) { categories in
                log.add("store categories")
                return categories
            }
            let notifications = graph.load("notifications", after: stored, on: http) { Requests.notifications(of: $0) }
            let all = graph.add("store notifications", after: notifications) { notifications in
                log.add("store \(notifications.map(\.text))")
            }
            let finish = graph.add("finish", after: all.always) { stored in
                log.add("hide the indicator")
                return (try? stored.get()) == nil ? "failed" : "synchronised"
            }
            return try await queue.start(try graph.build(returning: finish)).value
        }
    }

    private func service(_ server: TestServer) -> CategoryService {
        CategoryService(HTTPClient([URLSessionExecutor()]).relative(to: server.url("/v1")))
    }

    @Test func `the service is found in the registry, and its chain runs in order`() async throws {
        let server = try TestServer { request, connection in
            switch request.target {
            case "/v1/categories": connection.answer("201 Created", json: [Category(id: 7), Category(id: 8)])
            case "/v1/notifications?ids=7%2C8":
                connection.answer(json: [Notification(category: 7, text: "a whale")])
            default: connection.answer("404 Not Found")
            }
        }
        let host = PluginHost(manifest: Manifest(managers: [:]))
        host.services.register(service(server))
        let found = try host.services.resolve(CategoryService.self)
        #expect(try await found.synchronise() == "synchronised")
        #expect(
            found.log.all == [
                "2 categories, 201", "store categories", #"store ["a whale"]"#, "hide the indicator",
            ])
    }

    @Test func `a failure is told with its status, stops the chain, and the indicator is hidden`() async throws {
        let server = try TestServer { _, connection in connection.answer("500 Internal Server Error") }
        let service = service(server)
        #expect(try await service.synchronise() == "failed")
        #expect(service.log.all == ["network.status, 500", "hide the indicator"])
    }

    // MARK: Files

    @Test func `a download is subscribed to by an id with slashes, before the operation exists`() async throws {
        let content = [UInt8](repeating: 7, count: 300_000), folder = try TestFolder()
        let pool = try await TransferPool(HTTPPipeline([URLSessionExecutor()]), store: MemoryRecordStore())
        let server = try TestServer { _, connection in connection.answer("200 OK", body: content) }
        let id = "users/12/avatar.png", path = folder.path + "/avatar.png", progress = Recording<Double>()
        let subscribed = Task {
            var last: TransferState?
            for try await state in pool.states(of: id) {
                if let part = state.progress { progress.add(part) }
                last = state
            }
            return last
        }
        try await pool.begin(Transfer(id, download: server.url("/avatar"), to: path))
        let last = try #require(try await subscribed.value)
        #expect(last.phase == .succeeded && last.file == path)
        #expect(progress.all.last == 1 && progress.all == progress.all.sorted())
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(content))
    }
}
