public import Backplane

/// A manager that serves HTTP, with a table of routes.
///
/// ```swift
/// final class LibraryRoutes: RouteManager {
///     struct Wires: Wiring {
///         let library: Wire<Library>
///     }
///     private let wires: Wires
///
///     init(_ context: Context) { wires = context.wires }
///
///     static func routes(_ routes: inout Routes<LibraryRoutes>) {
///         routes.get("/books/:id") { me, request, call in
///             try await me.wires.library.book(try request.parameter("id"), call)
///         }
///     }
/// }
/// ```
///
/// A server calls the manager for every request that matches one of its routes. When the plugin is swapped, the next
/// request is matched to the routes of the new code.
public protocol RouteManager: Manager where Provides == HTTPRoutes {
    /// Registers the routes, as ``Component/methods(_:)`` registers methods.
    static func routes(_ routes: inout Routes<Self>)
}

extension RouteManager {
    /// Registers the bodies of ``HTTPRoutes``, which look up the route of a request in the table.
    public static func methods(_ table: inout Methods) {
        let routes = RouteTable(table: self.table)
        table.async(\.answer) { me, request, call in try await routes.answer(me, request, call) }
        table.stream(\.stream) { me, request, parts, call in try await routes.stream(me, request, parts, call) }
    }

    /// The routes and their mistakes in JSON, which a host reads without an instance.
    public static var annotation: String? { RouteAnnotation(of: table).json }

    private static var table: Routes<Self> {
        var table = Routes<Self>()
        routes(&table)
        return table
    }
}
