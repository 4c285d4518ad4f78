#if Engines
import Foundation
import HTTPTypes
import Hummingbird

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
        router.route(
            "/v2/loans/:id",
            [.delete: { request, context in try giveBack(request, context.parameters.get("id") ?? "") }])
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
