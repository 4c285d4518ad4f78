import Backplane
import BackplaneNetwork
import BackplaneRoutes
import BookshelfContracts

/// The web interface of the library: a JSON API, covers and texts as files, events, and a page with the catalogue.
///
/// It has no state, so swapping it delays no request.
final class LibraryRoutes: RouteManager {
    struct Wires: Wiring {
        let library: Wire<Library>
    }
    private let library: Wire<Library>
    private let resources: Resources

    init(_ context: Context) { (library, resources) = (context.wires.library, context.resources) }

    static func routes(_ routes: inout Routes<LibraryRoutes>) {
        routes.group("", refusals) { routes in
            routes.get("/books") { me, request, call in
                let page = try request.query("page", default: 1)
                guard page > 0 else {
                    throw RouteProblem(400, fields: ["page": "expected a number from 1, found `\(page)`"])
                }
                return try await me.library.browse(page, call)
            }
            routes.get("/search") { me, request, call in
                try await me.library.search(request.query(as: BookQuery.self), call)
            }
            routes.get("/books/:book/cover") { me, request, call in
                RouteResponse.file(try await me.library.cover(request.parameter("book"), call))
            }
            routes.get("/books/:book/text") { me, request, call in
                RouteResponse.file(try await me.text(of: request.parameter("book"), call))
            }
            routes.post("/loans") { me, request, call in
                let loan = try await me.library.borrow(request.body(as: NewLoan.self).book, call)
                var response = try RouteResponse.json(loan, status: 201)
                // Relative to `…/loans`, because the server decides where the routes are mounted.
                response.headers["Location"] = "loans/\(loan.id.encodedForQuery)"
                return response
            }
            routes.delete("/loans/:loan") { me, request, call in
                try await me.library.giveBack(request.parameter("loan"), call)
            }
        }
        routes.events("/events") { me, request, call in
            me.library.events(EventsAfter(request.lastEventID ?? ""), call).map { event in
                try ServerEvent.json(event, name: event.kind.rawValue, id: event.id)
            }
        }
        routes.get("/catalogue.html") { me, _, _ in RouteResponse.file(try me.resources.path("catalogue.html")) }
        routes.get("/catalogue.css") { me, _, _ in RouteResponse.file(try me.resources.path("catalogue.css")) }
    }

    private struct NewLoan: Decodable, Sendable {
        /// The identifier of the book.
        var book: String
    }

    /// Returns the path of the text of a borrowed book, once it has arrived.
    private func text(of book: String, _ call: Call) async throws -> String {
        var path: String?
        for try await progress in library.text(book, call) { path = progress.path }
        guard let path else { throw RouteProblem(404, "there is no text of `\(book)`") }
        return path
    }

    /// The interceptor that converts errors of the library and its server that concern the client to responses.
    private static var refusals: RouteInterceptor<LibraryRoutes> {
        .intercepted { _, request, next, _ in
            do { return try await next(request) } catch let error as BackplaneError {
                guard let failure = error.failure else { throw error }
                if failure.code == "library.nothing-to-search" {
                    throw RouteProblem(400, error.message, fields: ["text": error.message])
                }
                guard let status = failure.details["status"].flatMap({ Int($0) }), [403, 404, 409].contains(status)
                else { throw error }
                // The code `http` means that the server has given no reason.
                throw RouteProblem(status, failure.code == "http" ? nil : error.message)
            }
        }
    }
}
