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

        /// Loads the categories and the notifications of one at the same time, and hides the indicator at last.
        func refresh() async throws -> Int {
            var graph = GraphBuilder("refresh")
            let categories = graph.load("categories", Requests.categories, on: http)
            let notifications = graph.load("notifications", Requests.notifications(of: [Category(id: 7)]), on: http)
            let finish = graph.add("finish", after: categories.always, notifications.always) {
                categories, notifications in
                ((try? categories.get().count) ?? 0) + ((try? notifications.get().count) ?? 0)
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

    @Test func `independent operations run at the same time`() async throws {
        let both = DispatchSemaphore(value: 0), arrived = Mutex(0)
        let server = try TestServer { request, connection in
            let isLast = arrived.withLock { count in
                count += 1
                return count == 2
            }
            if isLast { for _ in 0..<2 { both.signal() } }
            both.wait()  // for the other request
            if request.target == "/v1/categories" { return connection.answer(json: [Category(id: 7)]) }
            connection.answer(json: [Notification(category: 7, text: "a whale")])
        }
        #expect(try await service(server).refresh() == 2)
    }

    // MARK: Files

    private func pool() async throws -> TransferPool {
        try await TransferPool(HTTPPipeline([URLSessionExecutor()]), store: MemoryRecordStore())
    }

    @Test func `a download is subscribed to by an id with slashes, before the operation exists`() async throws {
        let content = [UInt8](repeating: 7, count: 300_000), folder = try TestFolder(), pool = try await pool()
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

    @Test func `an upload is subscribed to after it was added, and a late subscriber is told its end`() async throws {
        let folder = try TestFolder(), pool = try await pool()
        let server = try TestServer { request, connection in
            connection.answer("201 Created", body: Array("\(request.body.count)".utf8))
        }
        try folder.write([UInt8](repeating: 7, count: 300_000), as: "photo.png")
        let request = HTTPRequest("PUT", server.url("/photo"), body: .file(folder.path + "/photo.png"))
        try await pool.begin(Transfer("photos/1", upload: request))
        for _ in 1...2 {
            var last: TransferState?
            for try await state in pool.states(of: "photos/1") { last = state }
            #expect(last?.phase == .succeeded && last?.status == 201 && last?.response == Array("300000".utf8))
        }
    }

    @Test func `a transfer is paused, resumed and cancelled`() async throws {
        let folder = try TestFolder(), pool = try await pool(), hold = DispatchSemaphore(value: 0)
        defer { hold.signal() }
        let server = try TestServer { request, connection in
            connection.sendHead("200 OK", [("Content-Length", "10"), ("ETag", "\"1\"")])
            connection.send("half")
            hold.wait()
        }
        try await pool.begin(Transfer("a", download: server.url(), to: folder.path + "/a"))
        for try await state in pool.states(of: "a") where state.bytes > 0 {
            break
        }
        try await pool.pause("a")
        #expect(try await pool.state(of: "a").phase == .paused)
        try await pool.resume("a")
        #expect(try await pool.state(of: "a").phase != .paused)
        try await pool.cancel("a")
        #expect(try await pool.state(of: "a").phase == .cancelled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
