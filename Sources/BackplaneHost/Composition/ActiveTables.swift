import BackplaneRoutes
import Synchronization

/// The routes of the active plan, which a server reads for every request without waiting for the host's domain.
///
/// The routes change at the flip of a change, before its new code can be called, and change back if it is undone.
package final class HostRouting: Sendable {
    package struct Table: Sendable {
        /// The number of the table, which differs for every plan.
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

    /// Publishes the routes of a plan as the host's routes.
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

/// The screens of the active plan, which windows look up without waiting for the host's domain.
///
/// The screens change at the flip of a change, before its new code can be called, and change back if it is undone.
package final class HostScreens: Sendable {
    package struct Table: Sendable {
        /// The number of the table, which differs for every plan; 0 before the manifest is loaded.
        package var revision: UInt64 = 0
        /// The managers without errors that have screens, by the identifiers of the screens.
        package var managers: [String: String] = [:]
        /// The settings of the active manifest.
        package var settings: ScreenSettings?
    }
    private let state = Mutex(Table())
    private let numbers = Atomic(0)

    package var table: Table { state.withLock { $0 } }

    /// Returns a number for a screen to open, which no other screen of the host has had.
    package func newNumber() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Publishes the screens of a plan as the host's screens.
    func publish(_ plan: Plan, _ settings: ScreenSettings?) {
        state.withLock { state in
            state = Table(revision: state.revision + 1, managers: plan.screens, settings: settings)
        }
    }
}

/// The source of the active manifest, for use outside the host's serial domain.
final class ActiveSource: Sendable {
    private let source: Mutex<ManifestSource>

    init(_ source: ManifestSource) { self.source = Mutex(source) }

    var value: ManifestSource {
        get { source.withLock { $0 } }
        set { source.withLock { $0 = newValue } }
    }
}
