public import Backplane
public import BackplaneNetwork

/// The routes of a manager: for each a method, a pattern of paths, and the function that handles its requests.
///
/// ```swift
/// routes.get("/books/:id") { me, request, call in try await me.book(request.parameter("id"), call) }
/// routes.post("/books") { me, request, call in try await me.add(request.body(as: Book.self), call) }
/// routes.get("/covers/*name") { me, request, _ in try me.cover(request.parameter("name")) }
/// routes.group("/admin", .bearer { me, token, _ in me.admins[token] }) { admin in
///     admin.delete("/books/:id") { me, request, call in try await me.remove(request.parameter("id"), call) }
/// }
/// ```
///
/// A pattern consists of literal segments and parameters such as `:id`. It may end with `*name`, which takes the rest
/// of the path. A literal is preferred to a parameter, and a parameter to the rest.
///
/// A handler captures nothing: it receives the component, the request and the frame to pass on to other calls. It
/// returns a ``RouteResponse``; a `String`, which is sent as text; `Nothing`, for the status 204; or any other value,
/// which is sent as JSON. A ``RouteProblem`` that it throws is answered as such.
///
/// A mistake in a pattern excludes its route from the table. It is reported when the manifest is checked.
public struct Routes<C: Sendable>: Sendable {
    /// A function that receives the component, the request and the frame to pass on to other calls.
    public typealias Handler<Answer> = nonisolated(nonsending) @Sendable (C, RouteRequest, Call) async throws -> Answer
    private(set) var routes: [Route] = []
    /// The mistakes of the table, in sentences.
    private(set) var problems: [String] = []
    private var prefix = ""
    private var interceptors: [RouteInterceptor<C>] = []

    init() {}

    struct Route: Sendable {
        let description: RouteDescription
        let shape: String
        let interceptors: [RouteInterceptor<C>]
        let action: Action
        /// A Boolean value that indicates whether the route exists only for the preflight requests of browsers.
        let isPreflight: Bool

        enum Action: Sendable {
            case answer(Handler<RouteResponse>)
            case stream(Handler<RouteStream>)
        }
    }

    private mutating func add(
        _ method: String, _ pattern: String, _ kind: RouteDescription.Kind, _ action: Route.Action,
        isPreflight: Bool = false
    ) {
        let path = RoutePattern.joined(prefix, pattern)
        let description = RouteDescription(method, path, kind)
        guard !method.isEmpty, method.utf8.allSatisfy(\.isTokenCharacter) else {
            problems.append("`\(description.name)`: `\(method)` is not a method")
            return
        }
        let shape: String
        do throws(RoutePattern.Invalid) { shape = try RoutePattern(path).shape } catch {
            problems.append("`\(description.name)`: \(error.reason)")
            return
        }
        if let index = routes.firstIndex(where: { $0.description.method == method && $0.shape == shape }) {
            if isPreflight { return }
            guard routes[index].isPreflight else {
                problems.append(
                    "`\(description.name)` matches the same requests as `\(routes[index].description.name)`")
                return
            }
            routes.remove(at: index)
        }
        routes.append(
            Route(
                description: description, shape: shape, interceptors: interceptors, action: action,
                isPreflight: isPreflight))
        if method != "OPTIONS", interceptors.contains(where: \.answersPreflights) {
            add("OPTIONS", pattern, .answer, .answer { _, _, _ in .empty() }, isPreflight: true)
        }
    }
}

/// Whole answers.
extension Routes {
    /// Adds a route of the method `GET`, which also answers `HEAD` unless there is a route for it.
    public mutating func get<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("GET", pattern, handler)
    }

    /// Adds a route of the method `POST`.
    public mutating func post<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("POST", pattern, handler)
    }

    /// Adds a route of the method `PUT`.
    public mutating func put<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("PUT", pattern, handler)
    }

    /// Adds a route of the method `PATCH`.
    public mutating func patch<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("PATCH", pattern, handler)
    }

    /// Adds a route of the method `DELETE`.
    public mutating func delete<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("DELETE", pattern, handler)
    }

    /// Adds a route of the method `HEAD`, which takes precedence over the route of `GET`.
    public mutating func head<Answer: Encodable & Sendable>(_ pattern: String, _ handler: @escaping Handler<Answer>) {
        on("HEAD", pattern, handler)
    }

    /// Adds a route of any method.
    public mutating func on<Answer: Encodable & Sendable>(
        _ method: String, _ pattern: String, _ handler: @escaping Handler<Answer>
    ) {
        add(
            method, pattern, .answer,
            .answer { me, request, call in
                try RouteResponse(of: try await handler(me, request, call))
            })
    }

    /// Adds a route whose handler reads the body of the request piece by piece.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of paths.
    ///   - method: The request method.
    ///   - handler: A function that receives the component, the request, its body and the frame to pass on.
    public mutating func upload<Answer: Encodable & Sendable>(
        _ pattern: String, method: String = "POST",
        _ handler:
            nonisolated(nonsending) @escaping @Sendable (C, RouteRequest, HTTPBodyStream, Call) async throws ->
            Answer
    ) {
        on(method, pattern) { me, request, call in try await handler(me, request, try request.bodyStream, call) }
    }
}

extension RouteResponse {
    fileprivate init<Answer: Encodable>(of answer: Answer) throws {
        if Answer.self == RouteResponse.self, let response = answer as? RouteResponse {
            self = response
        } else if Answer.self == String.self, let text = answer as? String {
            self = .text(text)
        } else if Answer.self == Nothing.self {
            self = .empty()
        } else {
            self = try .json(answer)
        }
    }
}

/// Answers in pieces.
extension Routes {
    /// Adds a route whose answer is written piece by piece, and ends with the connection if the plugin is replaced.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of paths.
    ///   - method: The request method.
    ///   - handler: A function that returns the answer, whose body is then written.
    public mutating func stream(_ pattern: String, method: String = "GET", _ handler: @escaping Handler<RouteStream>) {
        add(method, pattern, .stream, .stream(handler))
    }

    /// Adds a route of the method `GET` that answers with events, which continue if the plugin is replaced.
    ///
    /// The handler is then called again. ``RouteRequest/lastEventID`` is the identifier of the last event that the
    /// client has received, as when a client connects again. Without identifiers, events that occur in the meantime are
    /// lost.
    public mutating func events<Events: AsyncSequence & SendableMetatype>(
        _ pattern: String, _ handler: @escaping Handler<Events>
    ) where Events.Element == ServerEvent {
        add(
            "GET", pattern, .events,
            .stream { me, request, call in
                RouteStream(events: try await handler(me, request, call), after: request.lastEventID)
            })
    }

    /// Adds a route of the method `GET` that answers with events, which contain values as JSON.
    ///
    /// The events have no identifiers: use ``ServerEvent/json(_:name:id:)`` for events with identifiers.
    public mutating func events<Events: AsyncSequence & SendableMetatype>(
        _ pattern: String, _ handler: @escaping Handler<Events>
    ) where Events.Element: Encodable & Sendable {
        add(
            "GET", pattern, .events,
            .stream { me, request, call in
                let events = try await handler(me, request, call).map { try ServerEvent.json($0) }
                return RouteStream(events: events, after: request.lastEventID)
            })
    }
}

/// Groups.
extension Routes {
    /// Adds routes with a common beginning of their patterns, and with interceptors around their handlers.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the patterns; empty for none.
    ///   - interceptors: The interceptors, the outermost first, inside the interceptors of enclosing groups.
    ///   - define: A function that adds the routes.
    public mutating func group(
        _ prefix: String, _ interceptors: RouteInterceptor<C>..., routes define: (inout Routes) -> Void
    ) {
        let outer = (self.prefix, self.interceptors)
        self.prefix = RoutePattern.joined(outer.0, prefix)
        self.interceptors += interceptors
        problems += interceptors.compactMap(\.problem).map { "the group `\(self.prefix)`: \($0)" }
        define(&self)
        (self.prefix, self.interceptors) = outer
    }
}
