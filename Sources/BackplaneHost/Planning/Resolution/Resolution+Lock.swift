internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// The chosen classes, keyed as in the lock.
    var lock: [String: LockedClass] {
        let chosen = names.flatMap { choices[$0] ?? [] }.compactMap { choice in
            choice.entry.map { (choice.definition.lockKey, LockedClass($0)) }
        }
        return Dictionary(chosen) { first, _ in first }
    }

    /// Compares the chosen classes with the manifest's lock, if there is one.
    mutating func compareLock() {
        guard let lock = document.manifest.lock else { return }
        var known: Set<String> = []
        for name in names {
            for choice in choices[name] ?? [] {
                known.insert(choice.definition.lockKey)
                compare(choice, with: lock[choice.definition.lockKey], of: name)
            }
        }
        // The definitions of a manager that could not be read are unknown.
        let unread = Set(errors.keys.filter { definitions[$0] == nil }.map(\.pointerStep))
        for key in lock.keys.sorted() where !known.contains(key) && !unread.contains(key.firstStep) {
            let words = "the lock has an entry for `\(key)`, which does not exist; `backplane check --lock` removes it"
            let place = ManifestPath() / "lock" / key
            report(BackplaneError(.lockObsolete, words, at: place.description), of: nil, severity: .warning)
        }
    }

    private mutating func compare(_ choice: Resolution.Choice, with locked: LockedClass?, of name: String) {
        guard let entry = choice.entry else { return }
        let definition = choice.definition
        guard let locked else {
            let words = "the lock has no entry for `\(definition.lockKey)`; `backplane check --lock` adds one"
            return report(.lockIncomplete, words, of: name, at: definition.path, severity: .warning)
        }
        let chosen = LockedClass(entry)
        guard chosen != locked else { return }
        let words =
            "the lock has `\(entry.component.className)` \(locked), but the plugins now provide \(chosen); `backplane check --lock` accepts that"
        report(.lockMismatch, words, of: name, at: definition.path / "className")
    }
}

extension LockedClass {
    fileprivate init(_ entry: Catalogue.Entry) {
        self.init(plugin: entry.plugin, version: entry.component.version)
    }
}
