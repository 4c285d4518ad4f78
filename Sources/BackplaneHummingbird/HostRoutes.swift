#if Engines
public import BackplaneHost
import BackplaneRoutes
public import Hummingbird
public import Logging
import NIOCore

/// The routes of a host's managers in a Hummingbird application, as a middleware or as the responder to all requests.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "manifests/library.json"))
/// let router = Router()
/// router.add(middleware: HostRoutes(host, at: "/api"))
/// router.get("/about") { _, _ in "an application with plugins" }
/// try await Application(router: router).runService()
/// ```
///
/// Requests that match no route of a plugin go on to the application's own routes. The routes change with the plugins:
/// when one is swapped, the next request is matched to its new code. Managers start when they are first needed.
public struct HostRoutes<Context: RequestContext>: RouterMiddleware, HTTPResponder {
    private let server: RouteServer
    // Asked once, because the runtime would search for a conformance.
    private let hasAddress = Context.self is any RemoteAddressRequestContext.Type

    /// Creates the routes of a host's managers.
    ///
    /// - Parameters:
    ///   - host: The host, which the application neither starts nor stops.
    ///   - managers: The names of the managers; `nil` for all that provide `HTTPRoutes`.
    ///   - prefix: The path below which the routes are.
    ///   - limits: The limits for requests.
    ///   - logger: The logger for errors of routes. Default: a logger that writes to the host's log.
    public init(
        _ host: PluginHost, _ managers: [String]? = nil, at prefix: String = "/", limits: ServerLimits = ServerLimits(),
        logger: Logger? = nil
    ) {
        let prefix = prefix.hasSuffix("/") && prefix != "/" ? String(prefix.dropLast()) : prefix
        server = RouteServer(
            host, mounting: .managers(managers, under: prefix), limits: limits,
            logger: logger ?? Logger(label: "backplane.routes") { _ in HostLogHandler(host.log) })
    }

    /// Answers a request that matches a route, and passes on any other.
    ///
    /// If only the path matches and the application does not know it either, the answer has the status 405.
    @concurrent public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        switch await server.match(request) {
        case .found(let found): return await respond(to: request, found, context)
        case .none(let problem):
            guard problem.status == 405 else { return try await next(request, context) }
            do {
                let response = try await next(request, context)
                if response.status != .notFound { return response }
            } catch let error as any HTTPResponseError where error.status == .notFound {}
            return await server.refuse(request, problem)
        }
    }

    /// Answers a request, with the status 404, 405 or 400 if it matches no route.
    @concurrent public func respond(to request: Request, context: Context) async throws -> Response {
        switch await server.match(request) {
        case .found(let found): await respond(to: request, found, context)
        case .none(let problem): await server.refuse(request, problem)
        }
    }

    @concurrent private func respond(
        to request: Request, _ found: RouteServer.Found, _ context: Context
    ) async -> Response {
        // Hummingbird's metrics and traces name the request by this path.
        context.coreContext.endpointPath.value = found.route.path
        let address = hasAddress ? (context as? any RemoteAddressRequestContext)?.remoteAddress : nil
        return await server.respond(to: request, found, remoteAddress: address?.text)
    }
}
#endif
