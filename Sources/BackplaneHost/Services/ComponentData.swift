import Backplane
import BackplaneRecords
import Synchronization

/// The folders of components, and the parts of the record store that belong to data access controllers.
final class ComponentData: Sendable {
    private let open: @Sendable () throws(BackplaneError) -> DataFolder
    private let store: HostStore
    private let log: any LogSink
    /// The places as read, which only this host changes.
    private let known = Mutex<DataPlaces?>(nil)

    init(
        store: HostStore, log: any LogSink, _ open: @escaping @Sendable () throws(BackplaneError) -> DataFolder
    ) {
        (self.store, self.log, self.open) = (store, log, open)
    }

    /// Returns the place of a data access controller's data: the name of its folder and of its part of the store.
    func place(of node: Plan.Node, in plan: Plan) async throws(BackplaneError) -> String? {
        guard let namespace = node.dataNamespace else { return nil }
        let places = try places()
        guard node.was != nil || !places.entries.isEmpty else { return namespace }
        let folder = try open()
        // An interrupted start leaves an empty folder, which must not hide the data of the former name.
        var isUnused = false
        if node.was != nil, folder.hasFolder(named: namespace) {
            isUnused = (try? await hasData(at: namespace)) == false
        }
        return places.place(of: namespace, was: node.was, others: plan.dataNamespaces.contains) { [isUnused] place in
            folder.hasFolder(named: place) && !(isUnused && place == namespace)
        }
    }

    /// Returns the folder of a component, creating it if necessary; that of a data access controller is at its place.
    func folder(of node: Plan.Node, at place: String?) throws(BackplaneError) -> String {
        guard let place else { return networkFolder(of: node).path }
        return try open().folder(named: place)
    }

    /// Returns the folder of a component that uses the network, which is created on first use.
    func networkFolder(of node: Plan.Node) -> ComponentFolder {
        guard let name = node.networkFolder, let data = try? open() else {
            return ComponentFolder(path: "") { () throws(BackplaneError) in }
        }
        return ComponentFolder(path: data.networkFolder(named: name)) { () throws(BackplaneError) in
            try data.makeNetworkFolder(named: name)
        }
    }

    /// Returns whether there are files at a place.
    func hasFiles(at place: String) -> Bool { (try? open())?.hasFiles(named: place) ?? false }

    /// Returns whether there are files or records at a place.
    ///
    /// - Throws: `store.unusable` or `store.damaged` if there are no files and the store cannot be read.
    func hasData(at place: String) async throws(BackplaneError) -> Bool {
        if hasFiles(at: place) { return true }
        return try await store.collections(in: place).contains { $0.count > 0 }
    }

    /// Records that a controller has started successfully with its data at a place.
    func keep(_ node: Plan.Node, at place: String) throws(BackplaneError) {
        guard let namespace = node.dataNamespace else { return }
        let earlier = try places()
        var later = earlier
        later.keep(place, for: namespace)
        if later != earlier {
            try open().write(later)
            known.withLock { [later] in $0 = later }
        }
        warn(of: node, at: place)
    }

    private func places() throws(BackplaneError) -> DataPlaces {
        if let places = known.withLock(\.self) { return places }
        let places = try open().places()
        known.withLock { $0 = places }
        return places
    }

    /// Logs that a former namespace is not continued because the controller already has data of its own.
    private func warn(of node: Plan.Node, at place: String) {
        guard let was = node.was, place == node.dataNamespace, (try? open())?.hasFolder(named: was) == true,
            log.isEnabled(.warning)
        else { return }
        log.write(
            LogRecord(
                level: .warning, source: "host",
                message:
                    "`was` of a data access controller is ignored, because it already has its own folder",
                metadata: ["component": node.name, "namespace": place, "was": was]))
    }
}
