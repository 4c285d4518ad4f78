import BackplaneTestKit
import Foundation

/// An error that is sent to the client as `{"error": code, "message": sentence}`, with a code such as `book.unknown`.
struct Refusal: Error {
    var status, code, message: String

    init(_ status: String, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    static func unknown(_ kind: String, _ id: String) -> Refusal {
        Refusal("404 Not Found", "\(kind).unknown", "There is no \(kind) `\(id)`.")
    }
}

/// The routes of both versions of the API.
struct Routes: Sendable {
    let catalogue: Catalogue
    let library: Library
    let events = TestEventFeed()

    func answer(_ request: ReceivedRequest, _ connection: TestConnection) {
        let exchange = Exchange(request: request, connection: connection)
        do {
            try answer(exchange)
        } catch {
            let refusal = error as? Refusal ?? Refusal("500 Internal Server Error", "server.failed", "\(error).")
            let fields = refusal.status.hasPrefix("401") ? [("WWW-Authenticate", "Bearer")] : []
            connection.answer(refusal.status, fields, json: ["error": refusal.code, "message": refusal.message])
        }
    }

    private func answer(_ exchange: Exchange) throws {
        let connection = exchange.connection
        var path = exchange.request.path, id = ""
        if path.count > 2 { swap(&path[2], &id) }  // the third segment is an identifier, empty in the patterns below
        let method = exchange.request.method == "HEAD" ? "GET" : exchange.request.method
        switch "\(method) /\(path.joined(separator: "/"))" {
        case "GET /v1/books": connection.answer(json: catalogue.books.map(FlatBook.init))
        case "GET /v1/books/": connection.answer(json: FlatBook(try catalogue[id]))
        case "GET /v1/search":
            connection.answer(json: try catalogue.search(exchange.request.query["q"]).map(FlatBook.init))

        case "GET /v2/books": try exchange.sendPage(of: catalogue.books)
        case "GET /v2/books/": connection.answer(json: try catalogue[id])
        case "GET /v2/books//cover":
            let cover = Array(try catalogue[id].cover.utf8)
            exchange.send(cover, type: "image/svg+xml", ("Cache-Control", "max-age=86400"))
        case "GET /v2/books//text":
            try library.authorize(exchange.request)
            let book = try catalogue[id]
            guard library.loans.contains(where: { $0.book == id }) else {
                throw Refusal("403 Forbidden", "loan.missing", "`\(id)` is not on loan; borrow it first.")
            }
            exchange.send(Array(book.text.utf8), type: "text/plain; charset=utf-8")
        case "GET /v2/search": try exchange.sendPage(of: catalogue.search(exchange.request.query["q"]))

        case "POST /v2/sessions":
            let claim = try exchange.body(["reader", "password"])
            let token = try library.signIn(claim[0], claim[1])
            struct Session: Encodable { var token: String, expiresIn: Int }
            connection.answer("201 Created", json: Session(token: token, expiresIn: library.tokenLifetime))
        case "POST /v2/loans":
            try library.authorize(exchange.request)
            let loan = try library.borrow(catalogue[exchange.body(["book"])[0]])
            events.publish("loan.created", json: loan)
            connection.answer("201 Created", [("Location", "/v2/loans/\(loan.id)")], json: loan)
        case "DELETE /v2/loans/":
            try library.authorize(exchange.request)
            events.publish("loan.returned", json: try library.giveBack(id))
            connection.answer("204 No Content")

        case "GET /v2/files/": exchange.send(try library.file(id), type: "application/octet-stream")
        case "PUT /v2/files/":
            try library.authorize(exchange.request)
            let bytes = try exchange.body(upTo: Library.fileLimit)
            let isNew = try library.store(id, bytes)
            connection.answer(isNew ? "201 Created" : "204 No Content", [("ETag", Exchange.tag(of: bytes))])
        case "GET /v2/events": events.serve(exchange.request, connection)
        default: throw Refusal.unknown("route", "\(method) \(exchange.request.target)")
        }
    }
}

/// One request and the connection for its response.
struct Exchange {
    let request: ReceivedRequest
    let connection: TestConnection

    static func tag(of bytes: [UInt8]) -> String { "\"\(String(fnv(bytes), radix: 16))\"" }

    /// Sends bytes with their entity tag, or the requested range of the bytes.
    func send(_ bytes: [UInt8], type: String, _ fields: (String, String)...) {
        connection.answer(request, content: bytes, tag: Self.tag(of: bytes), [("Content-Type", type)] + fields)
    }

    /// Sends the page of books that the query selects with `page` and `per`; a page beyond the last is empty.
    func sendPage(of books: [Book]) throws {
        func number(_ name: String, upTo limit: Int, default number: Int) throws -> Int {
            guard let text = request.query[name] else { return number }
            if let number = Int(text), (1...limit).contains(number) { return number }
            throw Refusal("400 Bad Request", "page.invalid", "`\(name)` is a number from 1 to \(limit).")
        }
        let page = try number("page", upTo: 1_000_000, default: 1), per = try number("per", upTo: 100, default: 20)
        // The last page has no `next`.
        struct Page: Encodable { var items: [Book], total: Int, next: Int? }
        let items = Array(books.dropFirst((page - 1) * per).prefix(per))
        let next = page * per < books.count ? page + 1 : nil
        connection.answer(json: Page(items: items, total: books.count, next: next))
    }

    func body(upTo limit: Int) throws -> [UInt8] {
        if let request = connection.readBody(of: request, upTo: limit) { return request.body }
        throw Refusal("413 Content Too Large", "body.too-large", "The body has at most \(limit) bytes here.")
    }

    /// Reads a JSON body, and returns the strings for the keys.
    func body(_ keys: [String]) throws -> [String] {
        let object = try? JSONDecoder().decode([String: String].self, from: Data(body(upTo: 16 << 10)))
        let texts = keys.compactMap { object?[$0] }
        guard texts.count == keys.count else {
            throw Refusal("400 Bad Request", "body.invalid", "The body is a JSON object with texts for \(keys).")
        }
        return texts
    }
}
