#if Engines
import Hummingbird
import ServiceLifecycle

/// Middleware that delays every response; a shutdown ends the delay early.
struct Delay: RouterMiddleware {
    var duration: Duration

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        if duration > .zero {
            let duration = duration
            _ = try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
        }
        return try await next(request, context)
    }
}
#endif
