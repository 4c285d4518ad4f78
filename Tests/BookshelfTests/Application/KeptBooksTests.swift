#if Engines
import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneTestKit
import BookshelfContracts
import Foundation
import Glibc
import Synchronization
import TestFixtures
import Testing

/// The covers of the example from the cache on the disk.
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
}

/// The application with a database file that is not to be written.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseTests {
    @Test func `a file that may not be written costs the keeping, not the answer`() async throws {
        let folder = try TestFolder(), query = BookQuery(text: "whale")
        // There is a database once something was found.
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _ = try await $1.search(query) }
        }
        let place = URL(filePath: try folder.store()).deletingLastPathComponent().path
        // The rights of a file do not bind the superuser; a read-only mount binds everybody.
        guard mount("none", place, nil, UInt(MS_BIND), nil) == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(place, Int32(MNT_DETACH)) }
        try #require(mount("none", place, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { shelf, library in
                let found = try await library.search(query)
                #expect(found.source == .network)
                let told = shelf.log.records.filter { $0.source == "LibraryManager" && $0.level >= .warning }
                #expect(told.count == 1)
                #expect(told.first?.metadata["error"]?.contains("store.unusable") == true)
            }
        }
    }
}

/// The example without any server, answered by the mocks beside its manifests.
@Suite(.timeLimit(.minutes(5)))
struct MockedBookshelfTests {
    @Test(
        arguments: [
            ("cachalot", ["cruise-of-the-cachalot"]), ("Moby", ["moby-dick"]), ("the Essex", ["whale-ship-essex"]),
            ("dragon", []), ("whale", ["cruise-of-the-cachalot", "moby-dick", "whale-ship-essex"]),
        ] as [(String, [String])])
    func `a word of a title finds its book`(words: String, ids: [String]) async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run(server: Bookshelf.nowhere, mocks: mocks) { _, library in
            let found = try await library.search(BookQuery(text: words))
            #expect(found.value.map(\.id) == ids)
        }
    }

    @Test func `every request of the bookshelf has a mock`() async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run(server: Bookshelf.nowhere, mocks: mocks) { shelf, library in
            let found = try await library.search(BookQuery(text: "whale"))
            #expect(found.source == .network && found.value.map(\.id).contains("moby-dick"))
            let loan = try await library.borrow("moby-dick")
            #expect(loan.id == "loan-1" && shelf.signIns == 1)
            var text: TextProgress?
            for try await progress in library.text("moby-dick") { text = progress }
            #expect(try String(contentsOfFile: try #require(text?.path), encoding: .utf8).hasPrefix("Call me Ishmael"))
            var events = library.events(EventsAfter()).makeAsyncIterator()
            let kinds = [try await events.next()?.kind, try await events.next()?.kind]
            #expect(kinds == [.lent, .returned])
            _ = try await library.giveBack(loan.id)
            var catalogue: CatalogueProgress?
            for try await progress in library.synchronise(Nothing()) { catalogue = progress }
            #expect(catalogue?.report == "3 books and 3 covers are stored")
        }
    }
}

/// Answers that make no sense: told as such, and what was kept answers instead.
@Suite(.timeLimit(.minutes(10)))
struct NonsenseServerTests {
    private let query = BookQuery(text: "whale")

    private static func response(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    @Test(
        arguments: [
            ("no HTTP", "220 mail.example.org ESMTP\r\n", "network.malformed", nil),
            (
                "JSON of something else", response("200 OK", #"{"items": [{"name": "Moby-Dick"}]}"#),
                "network.unparsable", "http"
            ),
            (
                "a refusal with a code", response("429 Too Many", #"{"error": "slow.down", "message": "not so fast"}"#),
                "network.status", "slow.down"
            ),
        ] as [(String, String, String, String?)])
    func `the reason is reported, or the stored result is the answer`(
        what: String, answer: String, code: String, own: String?
    )
        async throws
    {
        let server = try NonsenseServer(answer)
        defer { server.stop() }
        let folder = try TestFolder()
        try await Bookshelf.run(server: server.url, in: folder) { _, library in
            let error = await #expect(throws: BackplaneError.self) { try await library.search(query) }
            #expect(error?.code.rawValue == code, "\(what)")
            #expect(error?.failure?.code == own, "\(what)")
        }
        let kept = try await RunningServer.run { real in
            try await Bookshelf.run(server: real.url, in: folder) { _, library in try await library.search(query).value
            }
        }
        try await Bookshelf.run(server: server.url, in: folder) { _, library in
            let found = try await library.search(query)
            #expect(found.value == kept)
            #expect(found.source != .network, "\(what)")
        }
    }
}

/// Says the same to whoever connects, on a free loopback port, and hangs up.
private final class NonsenseServer: Sendable {
    let url: String
    private let socket: Int32

    init(_ answer: String) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        try #require(isListening)
        (self.socket, url) = (socket, "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        Thread.detachNewThread {
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                var request = [UInt8](repeating: 0, count: 65_536)
                _ = recv(connection, &request, request.count, 0)
                let bytes = Array(answer.utf8)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
            close(socket)  // not before: its number may be that of another socket at once
        }
    }

    func stop() {
        shutdown(socket, Int32(SHUT_RDWR))
    }
}
#endif
