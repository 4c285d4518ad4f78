package import Backplane
import BackplaneDocuments
package import BackplaneRoutes

/// The routes of a manager with the contract `HTTPRoutes`, as its class lists them.
package struct ManagerRoutes: Sendable {
    package let manager: String
    package let annotation: RouteAnnotation
    /// The number of the manager's component, which is never reused; 0 in a plan that is not active.
    package internal(set) var component = 0

    package init(_ manager: String, _ annotation: RouteAnnotation) {
        (self.manager, self.annotation) = (manager, annotation)
    }
}

extension ComponentDescription {
    /// Returns the routes that the annotation of a class with the contract `HTTPRoutes` lists; `nil` for any other
    /// class.
    ///
    /// - Throws: `plugin.invalid-answer` for an annotation that lists no routes.
    package func routes() throws(BackplaneError) -> RouteAnnotation? {
        guard contract?.name == HTTPRoutes.name, let annotation else { return nil }
        return try RouteAnnotation(json: annotation)
    }

    /// The routes that the class lists, such as `GET /books/:id`; `nil` if there are none that can be read.
    package var listedRoutes: [String]? {
        guard let list = try? routes(), !list.routes.isEmpty else { return nil }
        return list.routes.map(\.name)
    }
}

extension ServerSettings? {
    /// Returns the path at which a manager's routes are mounted; `nil` if the section `mount` does not name it.
    package func prefix(of manager: String) -> String? {
        guard let mount = self?.mount else { return "/" }
        return mount[manager]
    }
}

extension Resolution.Draft {
    /// Reads the routes that managers list, and reports mistakes in them, and routes that clash.
    ///
    /// Without the section `server`, clashes are warnings, because a program may mount each manager at another path.
    mutating func compareRoutes() {
        let server = document.manifest.server
        for (manager, _) in (server?.mount ?? [:]).sorted(by: { $0.key < $1.key }) {
            compare(manager, at: ManifestPath() / "server" / "mount" / manager, as: "a server", HTTPRoutes.self)
        }
        routes = names.compactMap { name in
            listed("routes", of: name, ComponentDescription.routes, problems: \.problems).map {
                ManagerRoutes(name, $0)
            }
        }
        let matcher = RouteMatcher(
            routes.compactMap { routes in
                server.prefix(of: routes.manager).map { .init(routes.manager, prefix: $0, routes.annotation) }
            })
        for problem in matcher.problems { report(BackplaneError(.pluginInvalidAnswer, problem), of: nil) }
        for (key, path) in [("health", server?.health), ("metrics", server?.metrics)] {
            guard let path, case .found(let entry, _) = matcher.match("GET", path) else { continue }
            let words = "`\(entry.owner)` has the route `\(entry.text)`, which this path hides; choose another path"
            report(.routeClash, words, of: entry.owner, at: ManifestPath() / "server" / key)
        }
        report(matcher.clashes, severity: server == nil ? .warning : .error)
    }

    /// Reports the clashes of each manager as one problem, with the first of them.
    private mutating func report(
        _ clashes: [(first: RouteMatcher<String>.Entry, second: RouteMatcher<String>.Entry)],
        severity: Problem.Severity
    ) {
        var pairs: [String: [(own: RouteMatcher<String>.Entry, other: RouteMatcher<String>.Entry)]] = [:]
        for (first, second) in clashes {
            pairs[second.owner, default: []].append((second, first))
            if first.owner != second.owner { pairs[first.owner, default: []].append((first, second)) }
        }
        for (manager, pairs) in pairs.sorted(by: { $0.key < $1.key }) {
            let (own, other) = pairs[0], more = Set(pairs.map(\.own.text)).count - 1
            let others = more == 0 ? "" : ", and \(more) more route\(more == 1 ? "" : "s")"
            let words =
                "`\(own.text)` of `\(manager)` clashes with `\(other.text)` of `\(other.owner)`\(others); give one of "
                + "them another path, or mount one manager elsewhere with `server.mount`"
            report(.routeClash, words, of: manager, at: root / manager, severity: severity)
        }
    }
}

extension RouteMatcher.Entry {
    fileprivate var text: String { "\(route.method) \(path)" }
}
