#if Engines
import Hummingbird
import Logging
import NIOCore

/// Middleware that turns every error, including Hummingbird's own, into a JSON response.
struct FailuresAsJSON: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let failure as Failure {
            return try failure.response
        } catch is NIOTooManyBytesError {
            return try Failure(
                .contentTooLarge, "body.too-large", "A body of JSON has at most \(Request.maximumJSONSize) bytes."
            ).response
        } catch let error as HTTPError where error.status == .notFound {
            return try Failure(.notFound, "route.unknown", "There is nothing at `\(request.uri.path)`.").response
        } catch let error as any HTTPResponseError {
            return try Failure(error.status, "request.refused", "The request cannot be understood.").response
        } catch {
            context.logger.error(
                "a request failed",
                metadata: ["method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)"])
            return try Failure(.internalServerError, "server.failed", "The server failed; its log says why.").response
        }
    }
}
#endif
