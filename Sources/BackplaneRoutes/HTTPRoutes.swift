public import Backplane
import BackplaneNetwork

/// The contract of a manager that serves HTTP; a server calls it for the requests that match its routes.
///
/// A ``RouteManager`` implements it with a table of routes. The server receives the whole body of a request before it
/// calls the manager, and sends the answer's body, so that a slow client never occupies a plugin.
public struct HTTPRoutes: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns the whole answer of a route of the kind `answer`.
    ///
    /// It throws `route.unknown` if the table does not contain the request's route; the server then matches again.
    public let answer = AsyncMethod<RouteRequest, RouteResponse>()
    /// The answer of a route of the kind `stream` or `events`: its head, and then bytes or events.
    ///
    /// It throws `route.unknown` as ``answer`` does. The head is omitted if the request is resumed.
    public let stream = StreamMethod<RouteRequest, RoutePart>()

    /// Creates the contract.
    public init() {}
}

extension BackplaneError.Code {
    /// The manager does not have the route of a request; the server may match the request again.
    public static let routeUnknown = Self(rawValue: "route.unknown")
    /// The manager was replaced while it sent the bytes of a stream, which no other code can continue.
    public static let routeInterrupted = Self(rawValue: "route.interrupted")
}

extension RouteRequest: Resumable {
    /// A Boolean value that indicates whether the request can be repeated before its answer has begun: a `GET` can.
    public var hasPosition: Bool { ["GET", "HEAD"].contains(method) }

    /// Returns the request that continues an interrupted answer after its last event, named by `Last-Event-ID`.
    public func resuming(after last: RoutePart) -> RouteRequest {
        var next = self
        next.isResumed = true
        if case .event(let event) = last, !event.id.isEmpty { next.headers["Last-Event-ID"] = event.id }
        return next
    }
}
