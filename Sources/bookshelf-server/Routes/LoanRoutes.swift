#if Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of `/v2/loans`: borrowing and returning books, with a token.
struct LoanRoutes: Sendable {
    private struct Wish: Decodable {
        var book: String
    }
    private struct List: Encodable {
        var items: [Loan]
    }
    let catalogue: Catalogue
    let sessions: Sessions
    let loans: Loans
    let events: EventFeed

    func add(to router: BookshelfRouter) {
        router.route(
            "/v2/loans",
            [.get: { request, _ in try list(request) }, .post: { request, _ in try await borrow(request) }])
        router.route("/v2/books/:id/text", [.get: { request, context in try text(request, context) }])
        router.route(
            "/v2/loans/:id",
            [.delete: { request, context in try giveBack(request, context.parameters.get("id") ?? "") }])
    }

    /// Sends the text of a book that is on loan, or a part of it.
    private func text(_ request: Request, _ context: BasicRequestContext) throws -> Response {
        try sessions.authorize(request)
        let book = try catalogue.book(named: context)
        guard loans.all.contains(where: { $0.book == book.id }) else {
            throw Failure(.forbidden, "loan.missing", "`\(book.id)` is not on loan; borrow it first.")
        }
        let bytes = GeneratedText(book: book).bytes, tag = EntityTag(of: bytes)
        var headers: HTTPFields = [.eTag: tag.description, .acceptRanges: "bytes", .cacheControl: "private, no-cache"]
        headers[.contentType] = "text/plain; charset=utf-8"
        let header = request.method == .get && tag.allowsRange(of: request) ? request.headers[.range] : nil
        switch ByteRange(header, size: bytes.count) {
        case .whole: return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(bytes.count)"
            return Response(
                status: .partialContent, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes[range])))
        case .unsatisfiable:
            throw Failure(
                .rangeNotSatisfiable, "range.unsatisfiable",
                "The text has \(bytes.count) bytes, none of which is in this range.",
                headers: [.contentRange: "bytes */\(bytes.count)", .acceptRanges: "bytes"])
        }
    }

    private func list(_ request: Request) throws -> Response {
        try sessions.authorize(request)
        return try .taggedJSON(List(items: loans.all), for: request, cacheControl: "private, no-cache")
    }

    private func borrow(_ request: Request) async throws -> Response {
        try sessions.authorize(request)
        let wish = try await request.json(Wish.self)
        guard let book = catalogue[wish.book] else { throw Failure.unknownBook(wish.book) }
        guard let loan = loans.borrow(book.id, on: .now) else {
            throw Failure(.conflict, "loan.taken", "`\(book.id)` is already on loan.")
        }
        events.publish(.lent(loan))
        return try .json(loan, status: .created, headers: [.location: "/v2/loans/\(loan.id)"])
    }

    private func giveBack(_ request: Request, _ id: String) throws -> Response {
        try sessions.authorize(request)
        guard let loan = loans.giveBack(id) else {
            throw Failure(.notFound, "loan.unknown", "There is no loan `\(id)`.")
        }
        events.publish(.returned(loan))
        return Response(status: .noContent)
    }
}
#endif
