#if Engines
import BackplaneTestKit
import TestFixtures
import Backplane
import BackplaneExchange
import BackplaneHost
import BookshelfContracts
import Foundation
import Synchronization
import Testing

/// The covers and the catalogue of the example from the cache on the disk.
@Suite(.timeLimit(.minutes(5)))
struct CachedBookshelfTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Returns the result of a call, and the stages of its exchanges as `call --trace` prints them.
    private func traced<Value>(
        _ shelf: Bookshelf, _ body: (Call) async throws -> Value
    ) async throws -> (value: Value, trace: String) {
        let call = shelf.host.begin(), exchanges = try #require(shelf.host.exchanges(of: call.trace))
        let value = try await body(call)
        return (value, exchanges.takeLines().joined(separator: "\n"))
    }

    /// Returns a cover, and removes its file.
    private func cover(_ shelf: Bookshelf, _ library: Remote<Library>) async throws -> (value: String, trace: String) {
        try await traced(shelf) { call in
            let path = try await library.cover("walden", call)
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try String(contentsOfFile: path, encoding: .utf8)
        }
    }

    @Test func `a cover is requested once, also by the next host, which needs no server`() async throws {
        let (server, first) = try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { shelf, library in
                let first = try await cover(shelf, library)
                #expect(first.value.hasPrefix("<svg") && first.value.contains("Walden"))
                #expect(first.trace.contains("nothing stored") && first.trace.contains("attempt 1"))
                let second = try await cover(shelf, library)
                #expect(second.value == first.value)
                #expect(second.trace.contains("of 86400 seconds old, fresh") && !second.trace.contains("attempt"))
                try await eventually { try await shelf.host.cache.statistics().last?.usage?.entries == 1 }
                return (server.url, first.value)
            }
        }
        try await Bookshelf.run(server: server, in: folder) { shelf, library in
            let kept = try await cover(shelf, library)
            #expect(kept.value == first && !kept.trace.contains("attempt"))
        }
    }

    @Test func `a cover that several ask for at the same time is handed to each`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _, library in
                let paths = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<20 { group.addTask { try await library.cover("walden") } }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(paths.count == 1)
            }
        }
    }

    @Test func `a page answers at once while the server is slow or gone, and the next call has the new one`()
        async throws
    {
        struct Page: Encodable { var items: [Book] }
        let state = Mutex((title: "Walden", isSlow: false)), held = DispatchSemaphore(value: 0)
        let server = try TestServer { _, connection in
            if state.withLock({ $0.isSlow }) { held.wait() }
            let title = state.withLock { $0.title }
            let book = Book(id: "book", title: title, authors: [], year: 1854, language: "en")
            connection.answer(json: Page(items: [book]))
        }
        func title(_ library: Remote<Library>) async throws -> String? {
            let page = try await library.browse(1)
            return page.books.first?.title
        }
        try await Bookshelf.run(server: server.url(""), in: folder) { shelf, library in
            #expect(try await title(library) == "Walden")
            state.withLock { $0 = ("Emma", true) }
            // Until it is released, the server answers nobody.
            let stale = try await traced(shelf) { call in try await library.browse(1, call).books.first?.title }
            #expect(stale.value == "Walden" && stale.trace.contains("stale; the next one is loaded"))
            state.withLock { $0.isSlow = false }
            held.signal()
            try await eventually { try await title(library) == "Emma" }
            // A synchronisation has what the server has.
            let report = try await traced(shelf) { call in
                for try await _ in library.synchronise(call) {}
            }
            #expect(report.trace.contains("/v2/books") && !report.trace.contains("stale"))
            server.stop()
            #expect(try await title(library) == "Emma")
        }
    }
}
#endif
