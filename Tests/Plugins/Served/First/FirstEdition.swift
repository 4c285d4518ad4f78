public import Backplane
import BackplaneRoutes
import ServedParts

/// The first of two editions of one plugin with routes, which are swapped in turn.
public struct FirstEdition: Plugin {
    public static let id = "org.backplane.served"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(ServedRoutes.self)
        registrar.add(PlainRoutes.self)
    }
}

/// Routes of a component with state, to which requests wait during a swap.
final class ServedRoutes: RouteManager, StatefulComponent {
    typealias Configuration = ServedConfiguration
    private let desk: ServedDesk

    init(_ context: Context) { desk = ServedDesk(context.configuration) }

    func activate() { desk.fill() }
    func exportState() -> ServedState { desk.state }
    func importState(_ state: ServedState) { desk.state = state }

    static func routes(_ routes: inout Routes<ServedRoutes>) {
        routes.get("/version") { me, _, _ in me.desk.version("first") }
        routes.get("/only-first") { _, _, _ in "first" }
        routes.get("/download") { me, _, _ in try me.desk.download() }
        routes.get("/slow") { _, request, _ in try await ServedDesk.edition("first", after: request) }
        routes.get("/trap") { _, _, _ -> Nothing in fatalError("this route traps") }
        routes.post("/echo") { _, request, _ in ServedDesk.echo(request) }
        routes.stream("/numbers") { _, _, _ in ServedDesk.numbers() }
        routes.events("/changes") { _, request, _ in ServedEvents("first", after: request) }
    }
}

/// Routes of a component without state, to which no request waits.
final class PlainRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<PlainRoutes>) {
        routes.get("/plain/version") { _, _, _ in "first" }
        routes.get("/plain/slow") { _, request, _ in try await ServedDesk.edition("first", after: request) }
    }
}
