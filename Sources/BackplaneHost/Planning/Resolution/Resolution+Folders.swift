internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Reports different components that would store their files in the same folder.
    mutating func findSharedFolders() {
        var owners: [Folder: [(owner: Owner, path: ManifestPath)]] = [:]
        for name in names {
            for choice in choices[name] ?? [] {
                guard let identity = choice.identity, let namespace = identity.namespace else { continue }
                let role = choice.definition.role
                owners[Folder(namespace: namespace, isOfNetwork: role != .dataAccessController), default: []].append(
                    (
                        Owner(manager: name, identity: identity, isShared: role != .communicationController),
                        choice.definition.path
                    ))
            }
        }
        let sorted = owners.sorted {
            ($0.key.namespace, $0.key.isOfNetwork ? 1 : 0) < ($1.key.namespace, $1.key.isOfNetwork ? 1 : 0)
        }
        for (folder, owners) in sorted where Set(owners.map(\.owner)).count > 1 {
            let differing = owners.map(\.owner.manager)
            for (owner, path) in owners {
                let namespace = document.shown(folder.namespace, at: path / "namespace")
                let other = folder.isOfNetwork ? "component of the network" : "data access controller"
                let words =
                    "`\(owner.identity.entry.component.className)` would share the folder `\(namespace)` with a different \(other); "
                    + "set `namespace` for one of \(NameSuggestions.list(differing)), or make them equal"
                report(.folderShared, words, of: owner.manager, at: path)
            }
        }
    }

    /// A folder that a manifest names; the folders of data access controllers are distinct from those of the network.
    private struct Folder: Hashable {
        var namespace: String
        var isOfNetwork: Bool
    }

    /// A component that stores files in a folder; equal values represent one component if managers share it.
    private struct Owner: Hashable {
        var manager: String
        var identity: Resolution.Identity
        var isShared: Bool

        static func == (a: Self, b: Self) -> Bool {
            a.identity == b.identity && a.isShared == b.isShared && (a.isShared || a.manager == b.manager)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(identity) }
    }
}
