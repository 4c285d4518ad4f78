import Backplane
import BackplaneConformance
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneExchange
@testable import BackplaneNetwork

/// Pages of a resource: by links, cursors and closures, with one page of prefetch, and servers that never end.
@Suite(.timeLimit(.minutes(5)))
struct PagesTests {
    struct Page: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    /// A server of pages 1 to 3, by the query's `page`, with a cursor in the body and a link.
    private func server(_ targets: Recording<String>) throws -> TestServer {
        try TestServer { request, connection in
            targets.add(request.target)
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
            let link = page < 3 ? [("Link", "</first>; rel=first, </books?page=\(page + 1)>; rel=\"next last\"")] : []
            let next = page < 3 ? #","next":"\#(page + 1)""# : ""
            connection.answer("200 OK", link, body: Array(#"{"items":[\#(page)]\#(next)}"#.utf8))
        }
    }

    @Test(arguments: ClientKind.all)
    func `pages follow by links, by cursors and by closures`(kind: ClientKind) async throws {
        let targets = Recording<String>(), server = try server(targets)
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url()), endpoint = Endpoint<Page>("GET", "books")
            for rule in [
                NextPage<Page>.link, .cursor("page") { $0.next },
                NextPage { page, _, endpoint in
                    var next = endpoint
                    next.path = "books?page=\(page.items[0] + 1)"
                    return page.items[0] < 3 ? next : nil
                },
            ] {
                var items: [Int] = []
                for try await page in http.pages(endpoint, call, next: rule) { items += page.items }
                #expect(items == [1, 2, 3])
            }
        }
        let once = ["/books", "/books?page=2", "/books?page=3"]
        #expect(targets.all == once + once + once)
    }

    @Test(arguments: ClientKind.all)
    func `one page is loaded ahead, and nothing before the first is asked for`(kind: ClientKind) async throws {
        let targets = Recording<String>(), server = try server(targets)
        try await kind.lend { http, call async throws in
            let pages = http.relative(to: server.url()).pages(Endpoint<Page>("GET", "books"), call)
            var iterator = pages.makeAsyncIterator()
            #expect(targets.all.isEmpty)
            #expect(try await iterator.next()?.items == [1])
            #expect(try await targets.first(2) == ["/books", "/books?page=2"])
            #expect(try await iterator.next()?.items == [2])
            #expect(try await iterator.next()?.items == [3])
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
            #expect(targets.all.count == 3)
        }
    }

    @Test(arguments: ClientKind.all)
    func `links behind a redirect are relative to its end, and credentials stay at its start`(
        kind: ClientKind
    ) async throws {
        let received = Recording<String>()
        let books = try TestServer { request, connection in
            received.add("\(request.target) \(request["X-Key"] ?? "-") \(request["Accept"] ?? "-")")
            let links = ["/v2/books": "<?page=2>", "/v2/books?page=2": "<http://\(request["Host"] ?? "")/v2/last>"]
            let link = links[request.target].map { [("Link", "\($0); rel=next")] } ?? []
            connection.answer("200 OK", link, body: Array("[\(received.all.count)]".utf8))
        }
        let start = try TestServer { _, connection in
            connection.answer("302 Found", [("Location", books.url("/v2/books"))])
        }
        try await kind.lend { http, call async throws in
            let endpoint = Endpoint<[Int]>("GET", "books", headers: ["X-Key": "secret", "Accept": "text/json"])
            var pages: [[Int]] = []
            for try await page in http.relative(to: start.url()).pages(endpoint, call) { pages.append(page) }
            #expect(pages == [[1], [2], [3]])
        }
        #expect(received.all == ["/v2/books", "/v2/books?page=2", "/v2/last"].map { "\($0) - text/json" })
    }

    @Test(arguments: ClientKind.all)
    func `a page that comes again, one beyond the limit and one elsewhere are errors`(kind: ClientKind) async throws {
        let targets = Recording<String>()
        let server = try TestServer { request, connection in
            targets.add(request.target)
            let next =
                switch request.target.prefix(4) {
                case "/lop": "/lop"
                case "/end": "/end\(targets.all.count)"
                default: "http://127.0.0.1:1/other"
                }
            connection.answer("200 OK", [("Link", "<\(next)>; rel=next")], body: Array("[]".utf8))
        }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            for (path, pages, words) in [
                ("lop", 1, "already loaded"), ("end", 5, "more than 5 pages"), ("off", 0, "same origin"),
            ] {
                var count = 0
                let error = await #expect(throws: BackplaneError.self) {
                    for try await _ in http.pages(Endpoint<[Int]>("GET", path), call, limit: 5) { count += 1 }
                }
                #expect(error?.code == .networkPages && error?.message.contains(words) == true)
                #expect(count == pages)
            }
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `leaving the loop ends the page that is being loaded`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            guard request.target == "/books" else { return connection.stall() }
            connection.answer("200 OK", [("Link", "</stalled>; rel=next")], body: Array("[1]".utf8))
        }
        let stalled = Recording<String>()
        let requests = Task { for await request in server.requests { stalled.add(request.target) } }
        try await kind.lend { http, call async throws in
            for try await page in http.relative(to: server.url()).pages(Endpoint<[Int]>("GET", "books"), call) {
                #expect(page == [1])
                _ = try await stalled.first(2)
                break
            }
            _ = await server.departures.first { _ in true }
        }
        requests.cancel()
    }

    @Test(
        arguments: [
            (["<a>; rel=next"], "a"), (["<a>;rel=\"prev next\""], "a"), (["<a>; rel=prev", "<b>; rel=NEXT"], "b"),
            (["<a,b;c>; title=\"x, <y>; rel=next\"; rel=prev, <d>; rel=next"], "d"), (["<a>"], nil),
            (["<a>; rel=next; anchor=\"/other\""], nil), (["<a; rel=next"], nil), (["a; rel=next"], nil), ([""], nil),
            (["<a>; rel=\"next"], nil), (["<a>; rel=prev; rel=next"], nil), ([",, <a> ; rel = next"], "a"),
            ([String(repeating: "<a>; rel=prev, ", count: 10_000) + "<b>; rel=next"], "b"),
            ([String(repeating: "<", count: 100_000)], nil), ([String(repeating: ";", count: 100_000)], nil),
            (["<a>" + String(repeating: ";", count: 100_000)], nil),
        ] as [([String], String?)])
    func `the links of a response are read as they are written`(values: [String], expected: String?) {
        #expect(LinkHeader.target("next", in: values) == expected)
    }
}

/// Events of a server: the format, reconnections, and streams that do not end.
@Suite(.timeLimit(.minutes(5)))
struct ServerEventTests {
    private func events(_ text: String, by size: Int) throws -> [ServerEvent] {
        var parser = EventStreamParser(), events: [ServerEvent] = [], rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            events += try parser.take(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return events
    }

    @Test(
        arguments: [
            ("data: a\n\n", [ServerEvent(data: "a")]),
            ("data:a\r\rdata: b\r\n\r\n", [ServerEvent(data: "a"), .init(data: "b")]),
            ("data: a\ndata:\ndata:  b\n\n", [ServerEvent(data: "a\n\n b")]),
            (": comment\n\ndata\n\n", [ServerEvent()]),
            (
                "event: add\nid: 7\ndata: {}\n\ndata: x\n\n",
                [.init(name: "add", data: "{}", id: "7"), .init(data: "x", id: "7")]
            ),
            ("id: 1\n\ndata: a\nid\n\n", [ServerEvent(data: "a")]), ("data: lost", []), ("data: lost\n", []),
            ("event: add\n\ndata: a\n\n", [ServerEvent(data: "a")]), ("\u{FEFF}data: ü\n\n", [ServerEvent(data: "ü")]),
            ("id: a\0b\ndata: a\nwhat: b\n: c\n\n", [ServerEvent(data: "a")]), ("\n\n\n", []),
            ("id: a\u{1B}b\ndata: a\n\nid: \u{7F}\ndata: b\n\n", [ServerEvent(data: "a"), .init(data: "b")]),
            (
                "id: 5\nid: \(String(repeating: "x", count: 4_097))\ndata: a\n\n",
                [ServerEvent(data: "a", id: "5")]
            ),
        ] as [(String, [ServerEvent])])
    func `events are read alike in pieces of any size`(text: String, expected: [ServerEvent]) throws {
        for size in [1, 2, 3, 7, 1_000] { #expect(try events(text, by: size) == expected, "\(size)") }
    }

    @Test func `the server's delay is a number of milliseconds, up to a day`() throws {
        for (text, expected) in [("10", 0.01), ("x", nil), ("-1", nil), ("", nil), ("99999999999999999999", 86_400)] {
            var parser = EventStreamParser()
            _ = try parser.take(Array("retry: \(text)\n".utf8))
            #expect(parser.retry.map { $0 / .seconds(1) } == expected)
        }
    }

    @Test(arguments: ["data: ", "data: aaaaaaaa\n"])
    func `a line and an event that do not end are errors`(text: String) throws {
        var parser = EventStreamParser(limit: 1_000)
        let error = #expect(throws: BackplaneError.self) {
            for _ in 0..<1_000 { _ = try parser.take(Array(text.utf8)) }
        }
        #expect(error?.code == .networkTooLarge)
    }

    @Test func `an event before a line over the limit is read, and then the error`() throws {
        var parser = EventStreamParser(limit: 10)
        #expect(try parser.take(Array("data: a\n\ndata: 0123456789".utf8)) == [ServerEvent(data: "a")])
        #expect(parser.failure?.code == .networkTooLarge)
    }

    private static let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"

    @Test(arguments: ClientKind.streaming)
    func `a connection that ends is made again after the last event, until there are no more`(
        kind: ClientKind
    ) async throws {
        let last = Recording<String>()
        let server = try TestServer { request, connection in
            last.add("\(request["Last-Event-ID"] ?? "-") \(request["Accept"] ?? "-")")
            let number = last.all.count
            if number == 4 { return connection.answer("204 No Content") }
            if number == 3 { return connection.answer("503 Unavailable") }
            // The second one breaks off before its length.
            let head = number == 1 ? Self.head : Self.head.replacing("Connection: close", with: "Content-Length: 9000")
            connection.send(head + "retry: 1\n\nid: \(number)\ndata: event \(number)\n\ndata: lost")
            connection.close()
        }
        try await kind.lend { http, call async throws in
            var received: [String] = []
            var changes = Endpoint<ServerEvent>("GET", "")
            changes.retry = .immediate
            for try await event in http.relative(to: server.url()).events(changes, call, after: "0") {
                received.append("\(event.id) \(event.data)")
            }
            #expect(received == ["1 event 1", "2 event 2"])
        }
        #expect(last.all == ["0", "1", "2", "2"].map { "\($0) text/event-stream" })
    }

    @Test func `a connection that is silent is made again, and one without events not for ever`() async throws {
        let count = Recording<Int>()
        let server = try TestServer { request, connection in
            count.add(1)
            connection.send(Self.head)
            connection.stall()
        }
        let clock = TestClock(), executor = Engine.asyncHTTPClient.executor()
        let http = HTTPClient(HTTPPipeline([executor], retries: Retries(clock: clock))).relative(to: server.url())
        var changes = Endpoint<ServerEvent>("GET", "")
        changes.retry = RetryPolicy.immediate
        // A connection that has lasted that long counts as sound.
        changes.retry?.limit = .seconds(600)
        let events = http.events(changes, idle: .seconds(9))
        let error = await clock.passing(.seconds(9), .seconds(3)) {
            await #expect(throws: BackplaneError.self) { for try await _ in events {} }
        }
        #expect(error?.code == .networkTimeout && count.all.count == 3)
    }

    @Test func `connections after failures use the budget of their host`() async throws {
        let count = Recording<Int>()
        let server = try TestServer { _, connection in
            count.add(1)
            connection.answer("503 Unavailable")
        }
        let clock = TestClock(), retries = Retries(clock: clock)
        let http = HTTPClient(HTTPPipeline([Engine.asyncHTTPClient.executor()], retries: retries))
            .relative(to: server.url())
        for _ in 0..<10 { #expect(retries.budget.take("127.0.0.1", at: .zero)) }
        let error = await clock.passing(.seconds(3)) {
            await #expect(throws: BackplaneError.self) {
                for try await _ in http.events(Endpoint<ServerEvent>("GET", "")) {}
            }
        }
        #expect(error?.httpStatus == 503 && count.all.count == 1)
    }

    @Test func `connections after sound ones use no budget`() async throws {
        let server = try TestServer { request, connection in
            guard request["Last-Event-ID"] != "2" else { return connection.answer("204 No Content") }
            connection.send(Self.head + "retry: 0\nid: \(request["Last-Event-ID"] == nil ? 1 : 2)\ndata: a\n\n")
            connection.close()
        }
        let clock = TestClock(), retries = Retries(clock: clock)
        let http = HTTPClient(HTTPPipeline([Engine.asyncHTTPClient.executor()], retries: retries))
            .relative(to: server.url())
        for _ in 0..<10 { #expect(retries.budget.take("127.0.0.1", at: .zero)) }
        var changes = Endpoint<ServerEvent>("GET", "")
        changes.retry = .immediate
        var ids: [String] = []
        for try await event in http.events(changes) { ids.append(event.id) }
        #expect(ids == ["1", "2"])
    }

    @Test(arguments: ClientKind.all)
    func `events come as they are sent, and leaving the loop ends the connection`(kind: ClientKind) async throws {
        let latch = Latch()
        let server = try TestServer { _, connection in
            connection.send(Self.head + "data: first\n\n")
            latch.pass()
            connection.send("data: second\n\n")
            connection.stall()
        }
        try await kind.lend { http, call async throws in
            for try await event in http.relative(to: server.url()).events(Endpoint<ServerEvent>("GET", ""), call) {
                if event.data == "first" { latch.open() } else { break }
            }
            _ = await server.departures.first { _ in true }
        }
    }
}
