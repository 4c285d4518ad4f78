internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Reports data access controllers that are different but would store their files in the same folder.
    mutating func findSharedFolders() {
        var owners: [String: [(name: String, identity: Resolution.Identity)]] = [:]
        for name in names {
            guard let identity = choices[name]?.first(where: { $0.definition.namespace != nil })?.identity,
                let namespace = identity.namespace
            else { continue }
            owners[namespace, default: []].append((name, identity))
        }
        for (namespace, owners) in owners.sorted(by: { $0.key < $1.key }) where Set(owners.map(\.identity)).count > 1 {
            let differing = owners.map(\.name)
            for (name, identity) in owners {
                let namespace = document.shown(
                    namespace, at: root / name / ReservedLabel.dataAccessController / "namespace")
                let words =
                    "`\(identity.entry.component.className)` would share the folder `\(namespace)` with a different data access controller; "
                    + "set `namespace` for one of \(NameSuggestions.list(differing)), or make them equal"
                report(.folderShared, words, of: name, at: root / name / ReservedLabel.dataAccessController)
            }
        }
    }
}
