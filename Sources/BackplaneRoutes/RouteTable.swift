import Backplane
import BackplaneNetwork

/// The routes of a manager as it serves them, by name.
struct RouteTable<C: Sendable>: Sendable {
    private typealias Route = Routes<C>.Route
    // An array: a dictionary would make the runtime search every loaded image for `Hashable`.
    private let routes: [(name: String, route: Route)]

    init(table: Routes<C>) {
        routes = table.routes.map { ($0.description.name, $0) }.sorted { $0.name < $1.name }
    }

    private func route(_ name: String) throws(BackplaneError) -> Route {
        var low = 0, high = routes.count
        while low < high {
            let middle = (low + high) / 2
            if routes[middle].name < name { low = middle + 1 } else { high = middle }
        }
        guard low < routes.count, routes[low].name == name else {
            throw BackplaneError(
                .routeUnknown,
                "the manager has no route `\(name)`; name a route as it is declared, such as `GET /books/:id`, and pass its parameters separately"
            )
        }
        return routes[low].route
    }

    nonisolated(nonsending) func answer(_ me: C, _ request: RouteRequest, _ call: Call) async throws -> RouteResponse {
        let route = try route(request.route)
        guard case .answer(let handler) = route.action else {
            throw BackplaneError(.routeUnknown, "the answer of `\(request.route)` is a stream; read it with `stream`")
        }
        do {
            return try await route.intercepted(me, request, call) { request in try await handler(me, request, call) }
        } catch let problem as RouteProblem {
            return problem.response
        }
    }

    nonisolated(nonsending) func stream(
        _ me: C, _ request: RouteRequest, _ parts: StreamSender<RoutePart>, _ call: Call
    ) async throws {
        let route = try route(request.route)
        guard case .stream(let handler) = route.action else {
            throw BackplaneError(.routeUnknown, "the answer of `\(request.route)` is not a stream any more")
        }
        guard !request.isResumed || route.description.kind == .events else { throw BackplaneError.cannotContinue }
        var stream: RouteStream?
        var response: RouteResponse
        do {
            response = try await route.intercepted(me, request, call) { request in
                let opened = try await handler(me, request, call)
                stream = opened
                return RouteResponse(status: opened.status, headers: opened.headers)
            }
            // An interceptor has answered instead, before or after the handler.
            if response.status != stream?.status || !response.body.isEmpty || response.file != nil { stream = nil }
        } catch let problem as RouteProblem {
            (response, stream) = (problem.response, nil)
        }
        if request.isResumed {
            // The head has been sent, so another answer must wait until the client connects again.
            guard let stream else { throw BackplaneError.cannotContinue }
            return try await stream.write(parts)
        }
        try await parts.send(.head(response.head))
        if let stream { return try await stream.write(parts) }
        let body = RouteBody(parts), content = response.file.map { HTTPBody.file($0) } ?? .bytes(response.body)
        for try await chunk in try content.open() { try await body.send(chunk) }
    }
}

extension BackplaneError {
    fileprivate static var cannotContinue: BackplaneError {
        BackplaneError(.routeInterrupted, "the component was replaced, and its answer cannot be continued")
    }
}

extension Routes.Route {
    fileprivate nonisolated(nonsending) func intercepted(
        _ me: C, _ request: RouteRequest, _ call: Call, from index: Int = 0, _ handler: RouteInterceptor<C>.Next
    ) async throws -> RouteResponse {
        do {
            guard index < interceptors.count else { return try await handler(request) }
            return try await interceptors[index].body(
                me, request, { request in try await intercepted(me, request, call, from: index + 1, handler) }, call)
        } catch let error as BackplaneError where error.code == .routeUnknown {
            // The error comes from another manager. The server would attribute it to this one, and repeat the request.
            throw BackplaneError(.componentFailed, error.message)
        }
    }
}
