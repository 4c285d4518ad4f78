public import Backplane
import BackplaneRoutes
import BenchmarkContracts
import Glibc

/// The plugin whose routes are compared with those of a program.
public struct RoutesPlugin: Plugin {
    public static let id = "org.backplane.benchmark-routes"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BookRoutes.self)
        registrar.add(BlockingRoutes.self)
    }
}

/// A route that answers at once.
final class BookRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<BookRoutes>) {
        routes.get("/books/:id") { _, request, _ in RoutedBook(try request.parameter("id", as: Int.self)) }
    }
}

/// A route that keeps its thread for 20 ms.
final class BlockingRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<BlockingRoutes>) {
        routes.get("/block") { _, _, _ in block() }
    }

    private static func block() -> String {
        usleep(20_000)
        return "blocked"
    }
}
