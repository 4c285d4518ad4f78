#if Engines
import BackplaneHost
import BackplaneRoutes
import Logging

/// The routes of the active plan that a server has mounted.
final class MountedRoutes: Sendable {
    /// The number of the host's table that contains the routes.
    let revision: UInt64
    let matcher: RouteMatcher<MountedRoute>
    let managers: [String: ServedManager]

    /// Mounts the routes of a table.
    ///
    /// - Parameters:
    ///   - former: The routes that were mounted before, whose managers keep their places.
    ///   - logger: The logger for routes that cannot be reached.
    init(
        _ table: HostRouting.Table, _ mounting: RouteServer.Mounting, limits: ServerLimits,
        after former: MountedRoutes?, logger: Logger
    ) {
        var managers: [String: ServedManager] = [:], tables: [RouteMatcher<MountedRoute>.Table] = []
        for routes in table.managers {
            guard let prefix = mounting.prefix(of: routes.manager, table.server) else { continue }
            // New code has places and threads of its own, which handlers of the old code do not occupy.
            let same = former?.managers[routes.manager].flatMap { $0.component == routes.component ? $0 : nil }
            let manager = same ?? ServedManager(routes, limits: limits)
            managers[routes.manager] = manager
            func mount(_ route: RouteDescription, _ annotation: RouteAnnotation) {
                let owner = MountedRoute(
                    manager: manager, name: route.name, path: RoutePattern.joined(prefix, route.path), kind: route.kind)
                tables.append(RouteMatcher.Table(owner, prefix: prefix, annotation))
            }
            for route in routes.annotation.routes { mount(route, RouteAnnotation(routes: [route])) }
            for path in routes.annotation.preflights {
                mount(RouteDescription("OPTIONS", path), RouteAnnotation(routes: [], preflights: [path]))
            }
        }
        (revision, matcher, self.managers) = (table.revision, RouteMatcher(tables), managers)
        report(to: logger, mounting.names.filter { managers[$0] == nil })
    }

    private func report(to logger: Logger, _ missing: [String]) {
        for clash in matcher.clashes {
            logger.warning(
                "a route is hidden by another one, which matches the same requests",
                metadata: [
                    "route": "\(clash.second.owner)", "manager": "\(clash.second.owner.manager.name)",
                    "other": "\(clash.first.owner)", "otherManager": "\(clash.first.owner.manager.name)",
                ])
        }
        for problem in matcher.problems {
            logger.warning("a route cannot be mounted", metadata: ["problem": "\(problem)"])
        }
        for name in missing {
            logger.warning("no manager of this name provides HTTPRoutes", metadata: ["name": "\(name)"])
        }
    }
}

/// A route that is mounted at a path.
final class MountedRoute: Sendable {
    let manager: ServedManager
    /// The manager's name of the route.
    let name: String
    /// The whole pattern.
    let path: String
    let kind: RouteDescription.Kind

    init(manager: ServedManager, name: String, path: String, kind: RouteDescription.Kind) {
        (self.manager, self.name, self.path, self.kind) = (manager, name, path, kind)
    }
}

extension MountedRoute: CustomStringConvertible {
    /// The method and the whole pattern.
    var description: String { "\(name.prefix { $0 != " " }) \(path)" }
}

extension RouteServer.Mounting {
    /// Returns the path at which the routes of a manager are mounted; `nil` if they are not mounted.
    fileprivate func prefix(of manager: String, _ server: ServerSettings?) -> String? {
        switch self {
        case .manifest: server.prefix(of: manager)
        case .managers(let names, let prefix): names?.contains(manager) == false ? nil : prefix
        }
    }

    /// The managers that a program has named.
    fileprivate var names: [String] { if case .managers(let names?, _) = self { names } else { [] } }
}
#endif
