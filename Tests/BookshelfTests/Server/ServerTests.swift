import Foundation
import FoundationNetworking
import Glibc
import TestFixtures
import Testing

@testable import BookshelfServer

/// The example's server as its clients see it.
@Suite(.timeLimit(.minutes(5)))
struct ServerTests {
    @Test func `version 2 sends pages, which together are the whole catalogue`() async throws {
        let expected = try Catalogue().books.map(\.id)
        try await RunningServer.run { server in
            var ids: [String] = [], number: Int? = 1
            while let next = number {
                let page = try await server.get("/v2/books?page=\(next)&per=33")
                ids += try page.ids
                #expect(try page.object["total"] as? Int == expected.count)
                number = try page.object["next"] as? Int
            }
            #expect(ids == expected)
            #expect(try await server.get("/v2/books").ids == Array(expected.prefix(20)))
            #expect(try await server.get("/v2/search?q=whale&per=1&page=2").ids.count == 1)
            #expect(try await server.get("/v2/books/walden").text("title") == "Walden")
            let cover = try await server.get("/v2/books/walden/cover")
            #expect(cover.header("Content-Type") == "image/svg+xml" && cover.text.contains("Walden"))
            #expect(cover.header("Cache-Control") == "max-age=86400")
            let tag = try #require(cover.header("ETag"))
            #expect(try await server.get("/v2/books/walden/cover", ["If-None-Match": tag]).status == 304)
            for query in ["page=0", "page=x", "page=1000001", "per=101", "page=99999999999999999999"] {
                try await server.get("/v2/books?\(query)").expect(400, "page.invalid")
            }
        }
    }

    @Test(arguments: [
        ("moby", "moby-dick"), ("Melville obsession", "moby-dick"), ("LES MISÉRABLES", "les-miserables"),
        ("hugo, misérables!", "les-miserables"), ("svejk", "good-soldier-svejk"), ("dolls house", "dolls-house"),
        ("doll’s house", "dolls-house"),
    ])
    func `neither case nor diacritics nor punctuation matter to a search`(query: String, id: String) throws {
        #expect(try Catalogue().search(query).map(\.id) == [id])
    }

    @Test func `the catalogue has about two hundred books with identifiers, by authors who are long dead`() throws {
        let books = try Catalogue().books
        #expect((190...210).contains(books.count) && Set(books.map(\.id)).count == books.count)
        for book in books {
            #expect(book.id.wholeMatch(of: /[a-z0-9-]+/) != nil && !book.authors.isEmpty && !book.subjects.isEmpty)
            #expect(book.year < 1930 && book.authors.allSatisfy { $0.died ?? 0 < 1930 }, "\(book.id)")
        }
    }

    @Test func `a book is borrowed, read and given back, and each change is an event`() async throws {
        try await RunningServer.run { server in
            let events = try RawClient(port: server.port)
            events.send("GET /v2/events HTTP/1.1", "Last-Event-ID: 7", "", "")
            #expect(events.receive(to: "missed\ndata: {}\n\n").contains("Content-Type: text/event-stream\r\n"))

            let reader = try await server.signIn()
            try await server.get("/v2/books/walden/text", reader).expect(403, "loan.missing")
            let loan = try await server.send("POST", "/v2/loans", reader, body: #"{"book": "walden"}"#)
            #expect(loan.status == 201 && loan.header("Location") == "/v2/loans/loan-1")
            #expect(try Date(loan.text("due"), strategy: .iso8601).timeIntervalSinceNow > 13.9 * 86_400)
            try await server.send("POST", "/v2/loans", reader, body: #"{"book": "walden"}"#).expect(409, "loan.taken")
            let lent = events.receive(to: "\n\n")
            #expect(lent.hasPrefix("id: ") && lent.hasSuffix("\nevent: loan.created\ndata: \(loan.text)\n\n"))

            let whole = try await server.get("/v2/books/walden/text", reader)
            let part = try await server.get("/v2/books/walden/text", reader.merging(["Range": "bytes=7-"]) { $1 })
            #expect(whole.text.hasPrefix("Walden\nby Henry David Thoreau\n") && whole.data.count > 100_000)
            #expect(part.status == 206 && part.data == whole.data.dropFirst(7))

            #expect(try await server.send("DELETE", "/v2/loans/loan-1", reader).status == 204)
            #expect(events.receive(to: "\n\n").hasSuffix("\nevent: loan.returned\ndata: \(loan.text)\n\n"))
            try await server.send("DELETE", "/v2/loans/loan-1", reader).expect(404, "loan.unknown")
        }
    }

    @Test func `a file comes back as it was sent, also in parts, unless the client has it`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn(), path = "/v2/files/notes.txt"
            let stored = try await server.send("PUT", path, reader, body: "first")
            let tag = try #require(stored.header("ETag"))
            #expect(stored.status == 201)
            #expect(try await server.get(path).text == "first")
            #expect(try await server.get(path, ["If-None-Match": tag]).status == 304)
            let part = try await server.get(path, ["Range": "bytes=1-2", "If-Range": tag])
            #expect(part.status == 206 && part.text == "ir" && part.header("Content-Range") == "bytes 1-2/5")
            let new = try await server.send("PUT", path, reader, body: "second")
            #expect(new.status == 204 && new.header("ETag") != tag)
            #expect(try await server.get(path, ["Range": "bytes=1-2", "If-Range": tag]).text == "second")

            let large = String(repeating: "x", count: Library.fileLimit + 1)
            try await server.send("PUT", path, reader, body: large).expect(413, "body.too-large")
            for number in 1...7 { _ = try await server.send("PUT", "/v2/files/\(number)", reader, body: "") }
            try await server.send("PUT", "/v2/files/8", reader, body: "").expect(413, "files.full")
            let broken = try RawClient(port: server.port)
            broken.send(
                "PUT \(path) HTTP/1.1", "Authorization: \(reader["Authorization"] ?? "")", "Content-Length: 9", "", "ab"
            )
            broken.finish()
            _ = broken.receive()
            #expect(try await server.get(path).text == "second")
        }
    }

    @Test func `only readers borrow and upload, with a token that this server issued`() async throws {
        let routes = [
            ("POST", "/v2/loans"), ("DELETE", "/v2/loans/1"), ("GET", "/v2/books/walden/text"), ("PUT", "/v2/files/a"),
        ]
        try await RunningServer.run("--token-lifetime", "0", "--also", "grace:hopper") { server in
            let expired = try await server.signIn()
            for (method, path) in routes {
                try await server.send(method, path).expect(401, "token.missing")
                try await server.send(method, path, ["Authorization": "Bearer x"]).expect(401, "token.unknown")
                let late = try await server.send(method, path, expired)
                try late.expect(401, "token.expired")
                #expect(late.header("WWW-Authenticate") == "Bearer")
            }
            for (body, status) in [("grace", "hopper", 201), ("ada", "hopper", 401), ("eve", "", 401)].map({
                (#"{"reader": "\#($0)", "password": "\#($1)"}"#, $2)
            }) + [("{}", 400), ("x", 400)] {
                #expect(try await server.send("POST", "/v2/sessions", body: body).status == status, "\(body)")
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, nil])
    func `a signal or the end of its input stops it in order, also while clients wait`(signal: Int32?) async throws {
        try await RunningServer.run("--delay", "600000") { server in
            let waiting = try RawClient(port: server.port)
            waiting.send("GET /v2/events HTTP/1.1", "", "")
            if let signal { server.signal(signal) } else { try server.closeInput() }
            #expect(await server.end() == 0)
            _ = waiting.receive()
        }
    }

    @Test(arguments: [
        ["--port", "65536"], ["--port", "x"], ["--port"], ["--token-lifetime", "-1"], ["--delay", "600001"],
        ["--also", "grace"], ["--colour"],
    ])
    func `what cannot be is refused and named`(arguments: [String]) throws {
        let (status, text) = try RunningServer.ended(arguments)
        #expect(status == 64 && text.contains(arguments[0]) && text.contains(arguments.last ?? ""), "\(text)")
    }

    @Test func `a port that is taken is named, and help names every option`() async throws {
        try await RunningServer.run { server in
            let (status, text) = try RunningServer.ended(["--port", "\(server.port)"])
            #expect(status == 1)
            #expect(text == "bookshelf-server: cannot listen on 127.0.0.1:\(server.port): Address already in use\n")
        }
        let (status, text) = try RunningServer.ended(["--help"])
        #expect(status == 0)
        for option in ["--port", "--also", "--token-lifetime", "--delay", "--stop-with-parent"] {
            #expect(text.contains(option))
        }
    }
}

/// The example's server as a program, on the loopback interface.
final class RunningServer: Sendable {
    let url: String
    private let process: Process
    private let input = Pipe()
    private let ends: AsyncStream<Int32>
    private let session = URLSession(configuration: .ephemeral)

    /// Starts a server for as long as `body` runs. It ends with the tests in any case, because it watches its input.
    static func run<Result>(_ arguments: String..., body: (RunningServer) async throws -> Result) async throws -> Result
    {
        let server = try RunningServer(arguments)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Runs the program until it ends by itself, and returns its exit code and what it printed.
    static func ended(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (executable, arguments)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    /// The program, which the package manager puts beside the tests.
    static var executable: URL {
        URL(filePath: BuiltProducts.folder + "/bookshelf-server")
    }

    private init(_ arguments: [String]) throws {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (Self.executable, ["--stop-with-parent"] + arguments)
        (process.standardInput, process.standardOutput) = (input, output)
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationReason == .exit ? $0.terminationStatus : -1) }
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1) {
            line += byte
        }
        let match = String(decoding: line, as: UTF8.self).wholeMatch(
            of: /bookshelf-server listening on (http:\/\/127\.0\.0\.1:[0-9]+)\n/)
        (self.process, self.ends, url) = (process, ends, String(try #require(match).1))
    }

    var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    func closeInput() throws { try input.fileHandleForWriting.close() }

    /// Waits for the exit code; -1 stands for a signal.
    func end() async -> Int32? { await ends.first { _ in true } }

    private func stop() async {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        session.invalidateAndCancel()
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers)
    }

    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil)
        async throws -> Answer
    {
        var request = URLRequest(url: try #require(URL(string: url + path)), cachePolicy: .reloadIgnoringCacheData)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await session.data(for: request)
        return Answer(response: try #require(response as? HTTPURLResponse), data: data)
    }

    /// Signs in as the reader that each server knows, and returns the header that says so.
    func signIn() async throws -> [String: String] {
        let answer = try await send(
            "POST", "/v2/sessions", body: #"{"reader": "ada", "password": "difference-engine"}"#)
        return ["Authorization": "Bearer \(try answer.text("token"))"]
    }
}

/// A response of a server.
struct Answer {
    let response: HTTPURLResponse
    let data: Data

    var status: Int { response.statusCode }
    var text: String { String(decoding: data, as: UTF8.self) }
    var object: [String: Any] {
        get throws { try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]) }
    }
    /// The identifiers of a page of books.
    var ids: [String] {
        get throws { try #require(try object["items"] as? [[String: Any]]).compactMap { $0["id"] as? String } }
    }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    func text(_ key: String) throws -> String { try #require(try object[key] as? String) }

    /// Expects a refusal in the form of all refusals.
    func expect(_ status: Int, _ code: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(try text("error") == code, sourceLocation: sourceLocation)
        #expect(try text("message").hasSuffix("."), sourceLocation: sourceLocation)
    }
}
