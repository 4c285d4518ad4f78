import Backplane
import BackplaneNetwork
import BackplaneRecords
import Glibc
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

    /// Returns the folder of a component, creating it if necessary; a data access controller's folder is at its place.
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
        guard let was = node.was, place == node.dataNamespace, (try? open())?.hasFolder(named: was) == true else {
            return
        }
        log.report(
            .warning, "`was` of a data access controller is ignored, because it already has its own folder",
            ["component": node.name, "namespace": place, "was": was])
    }
}

/// The data of data access controllers that continue under another namespace.
extension ComponentData {
    /// Records the location of the data of a component that has started successfully.
    ///
    /// Until the manifest changes again, the data remains accessible there, so a failure is only logged.
    func keep(of component: RunningComponent) {
        guard let place = component.dataPlace else { return }
        do throws(BackplaneError) { try keep(component.node, at: place) } catch {
            logFailure(error, of: component.node)
        }
    }

    /// Records the location of the data of all controllers that continue a former namespace, whether they are running
    /// or not.
    ///
    /// Otherwise, the controllers would not find their data once the manifest no longer states their former names.
    func keepFormer(in plan: Plan) async {
        for node in plan.nodes where node.dataNamespace != nil && node.was != nil {
            do throws(BackplaneError) {
                if let place = try await place(of: node, in: plan) { try keep(node, at: place) }
            } catch {
                logFailure(error, of: node)
            }
        }
    }

    /// Returns an error for each data access controller that a change would leave without its data.
    ///
    /// The data stays where it is, but the controller would look for it elsewhere.
    func leftBehind(from old: LoadedManifest, to new: LoadedManifest, _ succession: Succession) async
        -> [BackplaneError]
    {
        let before = succession.before
        var errors: [BackplaneError] = []
        for node in new.plan.nodes {
            guard let namespace = node.dataNamespace, let was = before[node.id].map({ old.plan.nodes[$0] }),
                let left = was.dataNamespace,
                let place = try? await self.place(of: was, in: old.plan),
                let next = try? await self.place(of: node, in: new.plan), place != next,
                await mayHaveData(at: place)
            else { continue }
            let former = left == namespace ? was.was ?? place : left
            let advice =
                node.was == former
                ? "it already has its own folder, `\(next)`: move that folder away,"
                : "write `\"was\": \"\(former)\"` in its definition, give it `\"namespace\": \"\(former)\"`,"
            errors.append(
                BackplaneError(
                    .stateIncompatible,
                    "\(node.name) would start without the data that it stored as `\(former)`; \(advice) or continue "
                        + "without the data (`ChangeOptions.discardsState`)",
                    at: node.location))
        }
        return errors
    }

    private func mayHaveData(at place: String) async -> Bool {
        guard store.isOpen else { return hasFiles(at: place) }
        return (try? await hasData(at: place)) ?? false
    }

    private func logFailure(_ error: BackplaneError, of node: Plan.Node) {
        log.report(
            .error, "could not record where the data of a renamed component is",
            ["component": node.name, "error": error.description])
    }
}

/// The private folder of a component.
struct ComponentFolder: Sendable {
    /// The absolute path; empty if there is none.
    let path: String
    /// The function that creates the folder unless it exists.
    let make: @Sendable () throws(BackplaneError) -> Void

    /// Returns the absolute path of a file in the folder.
    ///
    /// - Parameter makingFolder: Whether to create the component's folder.
    /// - Throws: `network.refused` for a path that escapes the folder, including through a link; the reason why there
    ///   is no folder.
    func path(of file: String, makingFolder: Bool) throws(BackplaneError) -> String {
        guard !path.isEmpty else {
            throw BackplaneError(
                .networkRefused,
                "the component has no folder; choose one with `HostOptions.dataFolder`, or set XDG_STATE_HOME",
                at: file)
        }
        let relative = file.hasPrefix(path + "/") ? String(file.dropFirst(path.count + 1)) : file
        let steps = Array(relative.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard !steps.contains(where: { ["", ".", ".."].contains($0) }), !relative.utf8.contains(0) else {
            throw BackplaneError(
                .networkRefused,
                "this is not a path in the component's folder \(path); use a path relative to it",
                at: file)
        }
        if makingFolder { try make() }
        let whole = FilePath.join(path, relative)
        guard let real = Self.real(FilePath.folder(of: whole)) else {
            throw BackplaneError(
                .networkRefused, "the folder of this file does not exist; create it below \(path) first", at: file)
        }
        guard let own = Self.real(path), real == own || real.hasPrefix(own + "/") else {
            throw BackplaneError(
                .networkRefused, "this path escapes the component's folder \(path), through a symbolic link",
                at: file)
        }
        if let target = Self.real(whole), !target.hasPrefix(own + "/") {
            throw BackplaneError(
                .networkRefused, "this is a symbolic link that escapes the component's folder \(path)", at: file)
        }
        return whole
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
