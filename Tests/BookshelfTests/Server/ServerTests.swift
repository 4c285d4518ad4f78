import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BookshelfServer

/// The example's server as its clients see it.
@Suite(.timeLimit(.minutes(5)))
struct ServerTests {
    @Test func `version 1 sends flat books, all at once`() async throws {
        try await RunningServer.run { server in
            #expect(
                try await server.get("/v1/books/lyrical-ballads").text == """
                    {"author":"William Wordsworth; Samuel Taylor Coleridge","id":"lyrical-ballads","language":"en",\
                    "title":"Lyrical Ballads","year":1798}
                    """)
            let found = try await server.get("/v1/search?q=WHALE").text
            #expect(found.hasPrefix("[{") && found.contains("moby-dick"))
            #expect(try await server.get("/v1/search?q=nothinglikethis").text == "[]")
        }
    }

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

    @Test(arguments: [nil, "", " ...", "'", String(repeating: "a ", count: 101)])
    func `a search has 1 to 100 words`(query: String?) throws {
        #expect(throws: Refusal.self) { try Catalogue().search(query) }
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

    @Test func `what is not there is an error`() async throws {
        try await RunningServer.run { server in
            for path in ["/", "/v3/books", "/v2/books/moby/pages"] {
                try await server.get(path).expect(404, "route.unknown")
                try await server.send("POST", path, body: "x").expect(404, "route.unknown")
            }
            for path in ["/v1/books/moby", "/v2/books/moby/cover"] {
                try await server.get(path).expect(404, "book.unknown")
            }
            try await server.get("/v2/files/a").expect(404, "file.unknown")
            try await server.get("/v1/search").expect(400, "query.invalid")
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

    @Test func `answers come late if that is asked for`() async throws {
        try await RunningServer.run("--delay", "300") { server in
            let start = ContinuousClock.now
            let answer = try await server.get("/v1/books/walden")
            #expect(answer.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
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
