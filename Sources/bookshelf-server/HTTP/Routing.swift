#if Engines
import HTTPTypes
import Hummingbird

typealias BookshelfRouter = Router<BasicRequestContext>

/// A handler for one method at one path.
typealias RouteHandler = @Sendable (Request, BasicRequestContext) async throws -> Response

extension BookshelfRouter {
    /// Adds a path with its handlers; HEAD is derived from GET, and any other method returns 405.
    func route(_ path: RouterPath, _ handlers: [HTTPRequest.Method: RouteHandler]) {
        var allowed = handlers.keys.map(\.rawValue)
        if handlers[.get] != nil { allowed.append("HEAD") }
        let allow = allowed.sorted().joined(separator: ", ")
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options] {
            if let handler = handlers[method] {
                on(path, method: method) { request, context in try await handler(request, context) }
            } else if method == .head, let handler = handlers[.get] {
                on(path, method: method) { request, context in try await handler(request, context).createHeadResponse()
                }
            } else {
                on(path, method: method) { request, _ -> Response in
                    let message = "`\(request.method.rawValue)` is not supported here; use \(allow)."
                    throw Failure(.methodNotAllowed, "method.not-allowed", message, headers: [.allow: allow])
                }
            }
        }
    }
}
#endif
