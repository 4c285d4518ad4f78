import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork

extension Resolution.Draft {
    /// Reports different components that would store their files in the same folder.
    mutating func findSharedFolders() {
        var owners: [Folder: [(owner: Owner, manager: String, path: ManifestPath)]] = [:]
        for name in names {
            for choice in choices[name] ?? [] {
                guard let identity = choice.identity, let namespace = identity.namespace else { continue }
                let role = choice.definition.role
                owners[Folder(namespace: namespace, isOfNetwork: role != .dataAccessController), default: []].append(
                    (
                        Owner(identity: identity, manager: role == .communicationController ? name : nil), name,
                        choice.definition.path
                    ))
            }
        }
        let sorted = owners.sorted {
            ($0.key.namespace, $0.key.isOfNetwork ? 1 : 0) < ($1.key.namespace, $1.key.isOfNetwork ? 1 : 0)
        }
        for (folder, owners) in sorted where Set(owners.map(\.owner)).count > 1 {
            let differing = owners.map(\.manager)
            for (owner, manager, path) in owners {
                let namespace = document.shown(folder.namespace, at: path / "namespace")
                let other = folder.isOfNetwork ? "component of the network" : "data access controller"
                let words =
                    "`\(owner.identity.entry.component.className)` would share the folder `\(namespace)` with a different \(other); "
                    + "set `namespace` for one of \(NameSuggestions.list(differing)), or make them equal"
                report(.folderShared, words, of: manager, at: path)
            }
        }
    }

    /// A folder that a manifest names; the folders of data access controllers are distinct from those of the network.
    private struct Folder: Hashable {
        var namespace: String
        var isOfNetwork: Bool
    }

    /// A component that stores files in a folder; equal values represent one component, which managers may share.
    private struct Owner: Hashable {
        var identity: Resolution.Identity
        /// The manager of a component that is not shared.
        var manager: String?
    }
}

extension Resolution.Draft {
    /// Reports former names that the manifest still has, or that several definitions claim.
    mutating func compareFormerNames() {
        let managers = names.map {
            FormerName(manager: $0, name: $0, was: definitions[$0]?.was, path: root / $0 / "was")
        }
        compare(managers, as: "a manager")
        compare(
            names.compactMap { name in
                guard let controller = definitions[name]?.dataAccessController else { return nil }
                return FormerName(
                    manager: name, name: controller.namespace ?? controller.className, was: controller.was,
                    path: root / name / ReservedLabel.dataAccessController / "was")
            }, as: "the folder of a data access controller")
    }

    /// A name in the manifest, of a manager or of a folder, with its former one.
    private struct FormerName {
        var manager: String
        var name: String
        var was: String?
        var path: ManifestPath
    }

    private mutating func compare(_ names: [FormerName], as kind: String) {
        let present = Set(names.map(\.name)), claims = Dictionary(grouping: names, by: \.was)
        for name in names {
            guard let was = name.was else { continue }
            let shown = document.shown(was, at: name.path), others = claims[was] ?? []
            if present.contains(was) {
                report(
                    .manifestUnsupported,
                    "`was` names `\(shown)`, which this manifest still has as \(kind); remove `was`, or give the other one another name",
                    of: name.manager, at: name.path)
            } else if Set(others.map(\.name)).count > 1 {
                report(
                    .manifestUnsupported,
                    "`\(shown)` can be continued by only one definition, but "
                        + "\(NameSuggestions.list(others.map(\.manager))) name it in `was`; keep one of them",
                    of: name.manager, at: name.path)
            }
        }
    }
}

extension Resolution.Draft {
    /// Reports nonexistent managers that credentials name, because a misspelt manager would be refused its credential.
    mutating func compareCredentials() {
        for (name, credential) in document.manifest.network.credentials.sorted(by: { $0.key < $1.key }) {
            for (index, manager) in (credential.managers ?? []).enumerated() where definitions[manager] == nil {
                let path = ManifestPath() / "network" / "credentials" / name / "managers" / index
                report(
                    .unknownManager(document.shown(manager, at: path), among: names, at: document.place(of: path)),
                    of: nil)
            }
        }
    }
}

extension Resolution.Draft {
    /// Reports names of network parts that are not managers, or whose managers do not provide the required contract.
    mutating func compareNetwork() {
        let network = document.manifest.network, root = ManifestPath() / "network"
        for (name, manager) in network.executors.sorted(by: { $0.key < $1.key }) {
            compare(manager, at: root / "executors" / name, as: "an executor", HTTPExecuting.self)
        }
        for (index, interceptor) in network.interceptors.enumerated() {
            let path = root / "interceptors" / index
            compare(interceptor.manager, at: path, as: "an interceptor", Intercepting.self)
        }
        for (name, manager) in network.serializers.sorted(by: { $0.key < $1.key }) {
            compare(manager, at: root / "serializers" / name, as: "a serializer", Serializing.self)
        }
        if let provider = network.cache.provider {
            compare(provider, at: root / "cache" / "provider", as: "a cache's provider", CacheProviding.self)
        }
        for (name, credential) in network.credentials.sorted(by: { $0.key < $1.key }) {
            guard case .component(let manager, _) = credential.scheme else { continue }
            compare(
                manager, at: root / "credentials" / name / "manager", as: "an authenticator", Authenticating.self)
        }
    }

    mutating func compare<C: Contract>(
        _ manager: String, at path: ManifestPath, as part: String, _ contract: C.Type
    ) {
        let needed = ContractDescription(of: contract), place = document.place(of: path)
        guard definitions[manager] != nil else {
            // An interceptor is a name, or an object with one.
            let shown = document.shown(document.shown(manager, at: path / "manager"), at: path)
            return report(.unknownManager(shown, among: names, at: place), of: nil)
        }
        guard let entry = choices[manager]?.first?.entry,
            let difference = entry.component.contract.difference(from: needed)
        else { return }
        report(
            BackplaneError(
                .wireMismatch,
                "`\(manager)` cannot be \(part): \(difference); \(part) provides \(needed.name) \(needed.version)",
                at: place), of: nil)
    }
}
