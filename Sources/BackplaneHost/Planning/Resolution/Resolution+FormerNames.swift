internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Reports former names that the manifest still has, or that several definitions claim.
    mutating func compareFormerNames() {
        compareFormerManagers()
        compareFormerNamespaces()
    }

    private mutating func compareFormerManagers() {
        let former = names.compactMap { name in definitions[name]?.was.map { (name: name, was: $0) } }
        let claims = Dictionary(grouping: former, by: \.was)
        for (name, was) in former {
            let path = root / name / "was"
            if document.manifest.managers[was] != nil {
                reportPresent(was, "a manager", of: name, at: path)
            } else if let others = claims[was], others.count > 1 {
                reportClaimed(was, by: others.map(\.name), of: name, at: path)
            }
        }
    }

    private mutating func compareFormerNamespaces() {
        var present: Set<String> = []
        var former: [(name: String, was: String, namespace: String)] = []
        for name in names {
            guard
                let definition = choices[name]?.lazy.map(\.definition).first(where: { $0.role == .dataAccessController }
                ),
                let namespace = definition.namespace
            else { continue }
            present.insert(namespace)
            if let was = definition.was { former.append((name, was, namespace)) }
        }
        let claims = Dictionary(grouping: former, by: \.was)
        for (name, was, _) in former {
            let path = root / name / ReservedLabel.dataAccessController / "was"
            if present.contains(was) {
                reportPresent(was, "the folder of a data access controller", of: name, at: path)
            } else if let others = claims[was], Set(others.map(\.namespace)).count > 1 {
                reportClaimed(was, by: others.map(\.name), of: name, at: path)
            }
        }
    }

    private mutating func reportPresent(_ was: String, _ kind: String, of name: String, at path: ManifestPath) {
        report(
            .manifestUnsupported,
            "`was` names `\(document.shown(was, at: path))`, which this manifest still has as \(kind); remove `was`, or give the other one another name",
            of: name, at: path)
    }

    private mutating func reportClaimed(_ was: String, by names: [String], of name: String, at path: ManifestPath) {
        report(
            .manifestUnsupported,
            "`\(document.shown(was, at: path))` can be continued by only one definition, but "
                + "\(NameSuggestions.list(names)) name it in `was`; keep one of them",
            of: name, at: path)
    }
}
