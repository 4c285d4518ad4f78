internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// What was chosen, by the keys of the lock.
    var lock: [String: LockedClass] {
        let chosen = names.flatMap(lockable).compactMap { item in item.entry.map { (item.key, LockedClass($0)) } }
        return Dictionary(chosen) { first, _ in first }
    }

    /// Compares what was chosen with the manifest's lock, where it has one.
    mutating func compareLock() {
        guard let lock = document.manifest.lock else { return }
        var known: Set<String> = []
        for name in names {
            for item in lockable(name) {
                known.insert(item.key)
                compare(item, with: lock[item.key], of: name)
            }
        }
        // Of a manager that could not be read it is not known what it has.
        let unread = Set(errors.keys.filter { definitions[$0] == nil }.map(\.pointerStep))
        for key in lock.keys.sorted() where !known.contains(key) && !unread.contains(key.firstStep) {
            let words = "the lock has an entry for `\(key)`, which is not there; `backplane check --lock` removes it"
            let place = ManifestPath() / "lock" / key
            report(BackplaneError(.lockObsolete, words, at: place.description), of: nil, severity: .warning)
        }
    }

    /// A definition, its key in the lock and what was chosen for it.
    private struct Lockable {
        var key: String
        var path: ManifestPath
        var entry: Catalogue.Entry?
    }

    private func lockable(_ name: String) -> [Lockable] {
        guard let definition = definitions[name] else { return [] }
        let choice = choices[name], path = root / name, key = name.pointerStep
        var items = [Lockable(key: key, path: path, entry: choice?.manager)]
        if definition.dataAccessController != nil {
            let label = ReservedLabel.dataAccessController
            items.append(Lockable(key: "\(key)/\(label)", path: path / label, entry: choice?.dataAccessController?.entry))
        }
        if let controller = definition.communicationController {
            let label = ReservedLabel.communicationController, path = path / label
            items.append(Lockable(key: "\(key)/\(label)", path: path, entry: choice?.communicationController))
            for (index, service) in controller.services.enumerated() {
                let entry = choice.flatMap { $0.services[index]?.entry }
                items.append(Lockable(key: "\(key)/\(label)/\(service.propertyName.pointerStep)", path: path / "services" / index, entry: entry))
            }
        }
        return items
    }

    private mutating func compare(_ item: Lockable, with locked: LockedClass?, of name: String) {
        guard let entry = item.entry else { return }
        guard let locked else {
            let words = "the lock has no entry for `\(item.key)`; `backplane check --lock` adds one"
            return report(.lockIncomplete, words, of: name, at: item.path, severity: .warning)
        }
        let chosen = LockedClass(entry)
        guard chosen != locked else { return }
        let words = "the lock has `\(entry.component.className)` \(locked), the plugins give \(chosen) now; `backplane check --lock` accepts that"
        report(.lockMismatch, words, of: name, at: item.path / "className")
    }
}

extension LockedClass {
    fileprivate init(_ entry: Catalogue.Entry) {
        self.init(plugin: entry.plugin, version: entry.component.version)
    }
}
