import BackplaneRoutes
import Synchronization

/// The routes of the active plan, which a server reads for every request without waiting for the host's domain.
///
/// They change at the flip of a change, before its new code can be called, and change back if it is undone.
package final class HostRouting: Sendable {
    package struct Table: Sendable {
        /// The number of the table, which is another one for every plan.
        package var revision: UInt64 = 0
        /// The routes of managers without errors, sorted by name; empty before the manifest is loaded.
        package var managers: [ManagerRoutes] = []
        /// The settings of the active manifest, with absolute paths.
        package var server: ServerSettings?
    }
    private let state = Mutex(Table())
    private let latest = Atomic<UInt64>(0)

    /// The number of the current table.
    package var revision: UInt64 { latest.load(ordering: .acquiring) }

    package var table: Table { state.withLock { $0 } }

    /// Makes the routes of a plan those of the host.
    ///
    /// - Parameter nodes: The nodes by their places in the plan.
    func publish(_ plan: Plan, _ nodes: [LiveNode], _ document: ManifestDocument) {
        let server = document.absoluteServer
        let managers = plan.routes.map { routes in
            var routes = routes
            routes.component = plan.managers[routes.manager].map { nodes[$0].id } ?? 0
            return routes
        }
        state.withLock { state in
            state = Table(revision: state.revision + 1, managers: managers, server: server)
            latest.store(state.revision, ordering: .releasing)
        }
    }
}

extension ManifestDocument {
    /// The settings of the server, with paths that do not depend on the current folder.
    fileprivate var absoluteServer: ServerSettings? {
        var server = manifest.server
        if let tls = server?.tls, let path {
            let folder = FilePath.folder(of: FilePath.absolute(path))
            server?.tls = ServerTLS(
                certificate: FilePath.join(folder, tls.certificate), key: FilePath.join(folder, tls.key))
        }
        return server
    }
}
