import Backplane
import BackplaneExchange
import BackplaneTestKit
import Foundation
import Testing

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
