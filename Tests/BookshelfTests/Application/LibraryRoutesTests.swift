#if Engines
import Backplane
import BackplaneHost
import BackplaneHummingbird
import BackplaneTestKit
import BookshelfContracts
import Foundation
import Glibc
import Logging
import ServiceLifecycle
import TestFixtures
import Testing

/// The web interface of the example, through sockets, with curl and Python as its clients.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: PeerServer.isThere("curl", "python3"), "curl or python3 is not installed"))
struct LibraryRoutesTests {
    /// Runs the example with its server for as long as `body` runs, which receives the URL of its routes.
    private func serve(_ body: (Bookshelf, Remote<Library>, String) async throws -> Void) async throws {
        try await RunningServer.run { books in
            try await Bookshelf.run("bookshelf-served.json", server: books.url) { shelf, library in
                try await shelf.host.start()
                let logger = Logger(label: "bookshelf") { _ in SwiftLogNoOpLogHandler() }
                let server = HostServer(shelf.host, ServerSettings(listen: "127.0.0.1:0"), logger: logger)
                let group = ServiceGroup(services: [server], logger: logger)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    try await body(shelf, library, "http://\(try await server.listening())/api")
                    await group.triggerGracefulShutdown()
                    try await tasks.waitForAll()
                }
            }
        }
    }

    private func curl(_ arguments: String...) async throws -> String {
        try await Client("curl", ["--silent", "--show-error"] + arguments).text()
    }

    @Test func `curl browses and searches`() async throws {
        try await serve { _, _, url in
            let first = try await JSONDecoder().decode(CataloguePage.self, from: Data(curl(url + "/books").utf8))
            #expect(first.pages > 1 && first.books.count == 50)
            let second = try await JSONDecoder().decode(
                CataloguePage.self, from: Data(curl(url + "/books?page=2").utf8))
            #expect(second.pages == first.pages && second.books.first != first.books.first)
            let found = try await JSONDecoder().decode(
                Sourced<[Book]>.self, from: Data(curl("--get", "--data", "text=whale", url + "/search").utf8))
            #expect(found.source == .network && found.value.map(\.id).contains("moby-dick"))
            let cover = try await curl("--write-out", "%{content_type}", url + "/books/moby-dick/cover")
            #expect(cover.hasPrefix("<svg") && cover.hasSuffix("image/svg+xml\n"))
        }
    }

    @Test func `Python borrows a book, and gives it back, on one connection`() async throws {
        let script = """
            import http.client, json, sys
            connection = http.client.HTTPConnection(sys.argv[1].split("/")[2], timeout=60)

            def send(method, path, body=None):
                headers = {"Content-Type": "application/json"} if body else {}
                connection.request(method, "/api" + path, body and json.dumps(body), headers)
                answer = connection.getresponse()
                return answer, answer.read()

            answer, body = send("POST", "/loans", {"book": "moby-dick"})
            loan = json.loads(body)
            print(answer.status, answer.headers["Location"] == "loans/" + loan["id"], loan["book"], loan["daysLeft"])
            answer, body = send("POST", "/loans", {"book": "moby-dick"})
            print(answer.status, json.loads(body)["detail"])
            answer, body = send("HEAD", "/catalogue.html")
            print(answer.status, int(answer.headers["Content-Length"]) > 0, body)
            answer, body = send("PUT", "/books")
            print(answer.status, answer.headers["Allow"])
            print(send("GET", "/nothing")[0].status, send("GET", "/..%2fsecret")[0].status)
            answer, body = send("DELETE", "/loans/" + loan["id"])
            print(answer.status, body)
            print(send("DELETE", "/loans/" + loan["id"])[0].status)
            """
        try await serve { _, _, url in
            let lines = try await Client("python3", ["-c", script, url]).all()
            #expect(
                lines == [
                    "201 True moby-dick 14", "409 `moby-dick` is already on loan.", "200 True b''",
                    "405 GET, HEAD", "404 400", "204 b''", "404",
                ])
        }
    }

    @Test func `a page asks to be reloaded, and Python opens it`() async throws {
        let script = """
            import sys, urllib.error, urllib.request
            with urllib.request.urlopen(sys.argv[1] + "/catalogue.html") as page:
                print(page.headers["Content-Type"])
                print('<script src="/backplane/reload.js"></script>' in page.read().decode())
            try: urllib.request.urlopen(sys.argv[1] + "/books?page=x")
            except urllib.error.HTTPError as error: print(error.code, error.headers["Content-Type"])
            """
        try await serve { _, _, url in
            let lines = try await Client("python3", ["-c", script, url]).all()
            #expect(lines == ["text/html; charset=utf-8", "True", "400 application/problem+json"])
        }
    }

    @Test func `events reach curl on one connection while both plugins are swapped`() async throws {
        try await serve { shelf, library, url in
            // The library's server does not know this event, and says so at once.
            let words = ["--silent", "--no-buffer", "--header", "Last-Event-ID: unknown", url + "/events"]
            let events = try Client("curl", words)
            var lines = events.lines.makeAsyncIterator()
            #expect(await lines.nextEvent().first == "event: missed")
            let steps: [(plugin: String?, book: String)] = [
                (nil, "moby-dick"), ("LibraryRoutes", "azul"), ("Bookshelf", "candide"),
            ]
            for (plugin, book) in steps {
                if let plugin { try await shelf.rebuild(plugin) }
                _ = try await library.borrow(book)
                let event = await lines.nextEvent()
                #expect(event.first == "event: loan.created")
                #expect(event.last?.contains("\"\(book)\"") == true, "\(event)")
            }
        }
    }

    @Test func `the command serves the manifest, without the books' server`() async throws {
        let folder = try TestFolder()
        let run = try Client(
            Bookshelf.built + "/backplane",
            [
                "run", Bookshelf.manifests + "/bookshelf-served.json", "--mock", Bookshelf.manifests + "/mocks",
                "--serve", "127.0.0.1:0", "--no-control", "--plugin-path", Bookshelf.built, "--data", folder.data,
                "--load-folder", folder.path + "/loads",
            ])
        var lines = run.lines.makeAsyncIterator(), place: String?
        while place == nil, let line = await lines.next() {
            place = line.firstMatch(of: /127\.0\.0\.1:[0-9]+/).map { String($0.output) }
        }
        let url = "http://\(try #require(place))"
        #expect(try await curl(url + "/api/books").contains(#""Moby-Dick""#))
        #expect(try await curl("--output", "/dev/null", "--write-out", "%{http_code}", url + "/healthz") == "200\n")
        run.signal(SIGTERM)
        while await lines.next() != nil {}
    }
}

extension AsyncStream.Iterator where Element == String {
    /// Returns the lines of the next event of an event stream, without comments.
    fileprivate mutating func nextEvent() async -> [String] {
        var event: [String] = []
        while let line = await next(isolation: #isolation), !line.isEmpty || event.isEmpty {
            if !line.isEmpty, !line.hasPrefix(":") { event.append(line) }
        }
        return event
    }
}

/// A program that others wrote, or the command, and the lines that it prints; it ends with the test.
private final class Client: Sendable {
    let lines: AsyncStream<String>
    private let process = Process()

    init(_ program: String, _ arguments: [String]) throws {
        let output = Pipe()
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        try process.run()
        let file = output.fileHandleForReading
        // On a thread of its own: a thread of Swift's pool would be missing where the answer is made.
        Thread.detachNewThread {
            var rest = Data()
            while case let data = file.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            if !rest.isEmpty { line.yield(String(decoding: rest, as: UTF8.self)) }
            line.finish()
        }
    }

    deinit { if process.isRunning { signal(SIGKILL) } }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Returns all lines, once the program has ended.
    func all() async -> [String] { await lines.reduce(into: []) { $0.append($1) } }

    /// Returns all lines as a text.
    func text() async -> String { await all().map { $0 + "\n" }.joined() }
}
#endif
