import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneOperations
import BackplaneOperationsNetwork
import BackplaneTestKit
import BackplaneTransfers
import BackplaneURLSession
import Foundation
import Testing

/// The page on graphs of work (docs/operations.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(5)))
struct OperationsPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../docs/operations.md")

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
        #expect(blocks.count == 14)
        for block in blocks {
            let snippet = lines(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
            #expect(source.firstRange(of: snippet) != nil, "\(snippet.joined(separator: "\n"))")
        }
    }

    final class Shelf: Sendable {
        func books() async throws -> [String] { ["Moby-Dick", "Emma"] }
        func authors() async throws -> [String] { ["Herman Melville", "Jane Austen"] }
        func store(_ books: [String], by authors: [String]) async throws -> Int { books.count }
        func covers() async throws -> [String] { throw Unavailable() }
        func index(_ books: [String]) async throws {}
        func pageCount() async throws -> Int { 3 }
        func page(_ number: Int) async throws -> [String] { ["\(number)a", "\(number)b"] }
    }

    @Test func `the first graph`() async throws {
        let shelf = Shelf()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await shelf.books() }
        let authors = graph.add("authors") { try await shelf.authors() }
        let stored = graph.add("store", after: books, authors) { books, authors in
            try await shelf.store(books, by: authors)
        }
        let run = try graph.build(returning: stored).start()
        let count = try await run.value
        #expect(count == 2)
    }

    @Test func `failures, handlers, options and events`() async throws {
        let shelf = Shelf(), logged = Recording<String>(), followed = Recording<String>()
        let log: @Sendable (String) -> Void = { logged.add($0) }
        let show: @Sendable (String, NodeState) -> Void = { followed.add("\($0) \($1)") }
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await shelf.books() }
        let stored = graph.add("store", after: books) { books in try await shelf.store(books, by: []) }
        let covers = graph.add("covers") { try await shelf.covers() }
        let shown = graph.add("show", after: covers.recover { _ in [] }) { covers in covers.count }
        let finish = graph.add("finish", after: shown.always, stored.always) { shown, stored in
            "\((try? shown.get()) ?? 0) covers, \((try? stored.get()) ?? 0) books"
        }
        graph.onSuccess(of: books) { books, status in log("\(books.count) books, attempt \(status.attempt)") }
        graph.onFailure(of: books) { error, status in log("\(error), status \(status.code ?? 0)") }
        let patient = NodeOptions(priority: .high, timeout: .seconds(30), retry: NodeRetry(attempts: 3))
        let index = graph.add("index", after: books, options: patient) { books in try await shelf.index(books) }
        let run = try graph.build(returning: finish).start()
        try run.raise(.node(index), to: .urgent)
        for await event in run.events {
            show(event.name, event.state)
        }
        #expect(try await run.value == "0 covers, 2 books")
        #expect(logged.all == ["2 books, attempt 1"])
        #expect(Set(followed.all).isSuperset(of: ["covers failed", "show succeeded", "finish succeeded"]))
    }

    @Test func `control`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") {
            try await gate.pass()
            return 2
        }
        let stored = graph.add("store", after: books) { $0 }
        let covers = graph.add("covers") { try await gate.pass() }
        let run = try graph.build(returning: stored).start()
        try await gate.arrivals(2)
        run.pause()
        try run.resume(.needs(of: stored))
        try run.cancel(.node(covers))
        run.resume()
        gate.open()
        #expect(try await run.value == 2)
        #expect(try run.state(of: covers) == .cancelled)
    }

    final class CatalogueManager: Manager {
        let synchronisation: NamedGraph<Int, Int>

        init(_ context: Context) throws {
            let shelf = Shelf()
            synchronisation = try context.operations.define("synchronise") { first in
                try Self.synchronise(from: first, shelf)
            }
        }

        static func synchronise(from first: Int, _ shelf: Shelf) throws -> OperationGraph<Int> {
            var graph = GraphBuilder("synchronise")
            let pages = (first..<first + 3).map { number in
                graph.add("page \(number)") { try await shelf.page(number) }
            }
            let stored = graph.add("store", afterAll: pages) { pages in
                try await shelf.store(pages.flatMap { $0 }, by: [])
            }
            return try graph.build(returning: stored)
        }
    }

    struct Synchronising: Contract {
        static let version: Version = "1.0.0"
        let synchronise = AsyncMethod<Int, Int>()
    }

    struct CataloguePlugin: Plugin {
        static let id = "org.backplane.tests.catalogue"
        static let version: Version = "1.0.0"
        static func register(in registrar: inout Registrar) { registrar.add(CatalogueManager.self) }
    }

    @Test func `a definition`() async throws {
        try await TestHost.run("CatalogueManager", plugins: [CataloguePlugin.self]) { test in
            let manager: Remote<Synchronising> = try await test.manager("CatalogueManager")
            #expect(try await manager.synchronise(4, test.begin()) == 6)
        }
    }

    final class CatalogueService: Sendable {
        private let queue = GraphQueue(width: 4)
        private let shelf: Shelf

        init(_ shelf: Shelf) { self.shelf = shelf }

        func synchronise() async throws -> Int {
            var graph = GraphBuilder("synchronise")
            let books = graph.add("books") { [shelf] in try await shelf.books() }
            let stored = graph.add("store", after: books) { [shelf] books in try await shelf.store(books, by: []) }
            return try await queue.start(graph.build(returning: stored)).value
        }

        func pause() { queue.pause() }
    }

    @Test func `a service`() async throws {
        let shelf = Shelf()
        let host = PluginHost(manifest: Manifest(managers: [:]))
        host.services.register(CatalogueService(shelf))
        let catalogue = try host.services.resolve(CatalogueService.self)
        #expect(try await catalogue.synchronise() == 2)
    }

    @Test func `whole graphs`() async throws {
        let shelf = Shelf()
        var graph = GraphBuilder("shelf")
        let count = graph.add("count") { try await shelf.pageCount() }
        let pages = graph.addGraph("pages", after: count) { count in
            var pages = GraphBuilder("pages")
            let all = (0..<count).map { number in
                pages.add("page \(number)") { try await shelf.page(number) }
            }
            let titles = pages.add("titles", afterAll: all) { pages in pages.flatMap { $0 } }
            return try pages.build(returning: titles)
        }
        let run = try graph.build(returning: pages).start()
        #expect(try await run.value == ["0a", "0b", "1a", "1b", "2a", "2b"])
    }

    // MARK: The two examples

    struct Category: Codable, Sendable {
        var id: String
    }

    struct Notification: Codable, Sendable {
        var text: String
    }

    actor NotificationStore {
        private(set) var log: [String] = []

        func keep(_ categories: [Category]) throws { log.append("categories \(categories.map(\.id))") }

        func keep(_ notifications: [Notification], of categories: [Category]) throws -> Int {
            log.append("notifications \(notifications.map(\.text)) of \(categories.map(\.id))")
            return notifications.count
        }
    }

    func synchronise(_ http: HTTPClient, _ store: NotificationStore, _ call: Call) throws -> OperationGraph<String> {
        var graph = GraphBuilder("synchronise")
        let categories = graph.load("categories", Endpoint<[Category]>("GET", "categories"), on: http, call)
        let kept = graph.add("store categories", after: categories) { categories in
            try await store.keep(categories)
            return categories
        }
        let notifications = graph.load("notifications", after: kept, on: http, call) { categories in
            let ids = categories.map(\.id).joined(separator: ",")
            return Endpoint<[Notification]>("GET", "notifications", query: ["categories": ids])
        }
        let stored = graph.add("store all", after: kept, notifications) { categories, notifications in
            try await store.keep(notifications, of: categories)
        }
        let finish = graph.add("finish", after: stored.always) { stored in
            switch stored {
            case .success(let count): "\(count) notifications are stored"
            case .failure(let error): "nothing is stored: \(error.message)"
            }
        }
        return try graph.build(returning: finish)
    }

    func home(_ http: HTTPClient, _ call: Call) throws -> OperationGraph<Int> {
        var graph = GraphBuilder("home")
        let categories = graph.load("categories", Endpoint<[Category]>("GET", "categories"), on: http, call)
        let notifications = graph.load(
            "notifications", Endpoint<[Notification]>("GET", "notifications"), on: http, call)
        let finish = graph.add("finish", after: categories.always, notifications.always) { categories, notifications in
            ((try? categories.get()) ?? []).count + ((try? notifications.get()) ?? []).count
        }
        return try graph.build(returning: finish)
    }

    /// The server of the examples; what it has no answer for is not found.
    private static func server(_ answers: [String: String]) throws -> TestServer {
        try TestServer { request, connection in
            guard let answer = answers[request.target] else { return connection.answer("404 Not Found") }
            connection.answer("200 OK", [("Content-Type", "application/json")], body: Array(answer.utf8))
        }
    }

    private static func client(of server: TestServer) -> HTTPClient {
        HTTPClient([URLSessionExecutor()]).relative(to: server.url())
    }

    @Test func `a chain in its order`() async throws {
        let server = try Self.server([
            "/categories": #"[{"id":"sea"},{"id":"land"}]"#, "/notifications?categories=sea,land": #"[{"text":"hi"}]"#,
            "/notifications?categories=sea%2Cland": #"[{"text":"hi"}]"#,
        ])
        let store = NotificationStore()
        let run = try synchronise(Self.client(of: server), store, Call()).start()
        #expect(try await run.value == "1 notifications are stored")
        #expect(await store.log == [#"categories ["sea", "land"]"#, #"notifications ["hi"] of ["sea", "land"]"#])
        #expect(await run.lastStates.values.allSatisfy { $0 == .succeeded })
    }

    @Test func `a chain that breaks`() async throws {
        let server = try Self.server(["/categories": #"[{"id":"sea"}]"#])
        let store = NotificationStore()
        let run = try synchronise(Self.client(of: server), store, Call()).start()
        #expect(
            try await run.value.hasPrefix(
                "nothing is stored: `store all` was not run, because it needs `notifications`"))
        #expect(await store.log == [#"categories ["sea"]"#])
    }

    @Test func `two loads at the same time and a marker of their end`() async throws {
        let requests = Recording<String>(), both = DispatchSemaphore(value: 0)
        let server = try TestServer { request, connection in
            requests.add(request.target)
            // Neither is answered before both were asked for.
            if requests.all.count == 2 { both.signal() }
            both.wait()
            both.signal()
            connection.answer("200 OK", body: Array("[]".utf8))
        }
        #expect(try await home(Self.client(of: server), Call()).start().value == 0)
        #expect(Set(requests.all) == ["/categories", "/notifications"])
    }

    // MARK: Files

    private let shown = Recording<String>()

    private func show(_ id: String, _ progress: Double) { if progress == 1 { shown.add(id) } }

    func copy(_ file: String, on files: TransferClient, _ url: String, _ folder: String) throws -> OperationGraph<Int> {
        var graph = GraphBuilder("copy")
        let wanted = HTTPRequest("GET", "\(url)/files/\(file)")
        let download = Transfer("down/\(file)", .download(wanted, to: "\(folder)/\(file)"))
        let text = graph.transfer("download", download, on: files) { state in show(state.id, state.progress ?? 0) }
        let sent = graph.transfer("upload", after: text, on: files) { text in
            let body = HTTPBody.file(text.file ?? "", type: "text/plain")
            return Transfer("up/\(file)", .upload(HTTPRequest("PUT", "\(url)/copies/\(file)", body: body)))
        }
        let status = graph.add("status", after: sent) { sent in sent.status ?? 0 }
        return try graph.build(returning: status)
    }

    @Test func `a file is downloaded and uploaded, and found again by its id`() async throws {
        let uploaded = Recording<[UInt8]>(), text = Array("Call me Ishmael.".utf8)
        let network = HTTPPipeline([
            MemoryExecutor { request, _ in
                guard request.method == "PUT" else {
                    return HTTPStreamedResponse(HTTPResponse(status: 200, body: text))
                }
                uploaded.add(try await request.body.open().collect(upTo: 100))
                return HTTPStreamedResponse(HTTPResponse(status: 201))
            }
        ])
        let folder = FileManager.default.temporaryDirectory.appending(path: "copies-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pool = try await TransferPool(network), files = pool.client
        let run = try copy("17", on: files, "http://books.test", folder).start()
        #expect(try await run.value == 201)
        #expect(uploaded.all == [text] && Set(shown.all) == ["down/17"])
        let progress = try await files.state(of: "down/17").progress
        #expect(progress == 1)
        await pool.stop()
    }
}

extension OperationsPageTests.CatalogueManager {
    typealias Provides = OperationsPageTests.Synchronising

    static func methods(_ table: inout Methods) {
        table.async(\.synchronise) { manager, first, _ in try await manager.synchronisation.start(first).value }
    }
}
