internal import Backplane
internal import BackplaneDocuments

extension ManifestReader {
    /// The lock of a manifest, as far as it could be read.
    enum Lock {
        case none
        case read([String: LockedClass])
        /// A lock with unknown contents, with which nothing may run.
        case unreadable
    }

    /// Reads the lock, in which variables are not expanded because a program writes it.
    ///
    /// - Parameter managers: The managers to which errors in their entries are attributed.
    mutating func lock(in root: Section, of managers: Dictionary<String, ManagerDefinition>.Keys) -> Lock {
        guard !ignoresLock, root.values["lock"] != nil else { return .none }
        guard let section = dictionary("lock", in: root) else { return .unreadable }
        let owners = Dictionary(managers.map { ($0.pointerStep, $0) }) { first, _ in first }
        var lock: [String: LockedClass] = [:]
        for key in section.values.keys.sorted() {
            let entry = reading(owners[key.firstStep]) { $0.lockedClass(key, in: section) }
            if let entry { lock[key] = entry }
        }
        return .read(lock)
    }

    private mutating func lockedClass(_ key: String, in section: Section) -> LockedClass? {
        guard let entry = dictionary(key, in: section) else { return nil }
        let plugin = requiredString("plugin", in: entry), version = version(in: entry)
        reportUnknownKeys(in: entry, known: .lockedClass)
        guard let plugin, let version else { return nil }
        return LockedClass(plugin: plugin, version: version)
    }

    private mutating func version(in entry: Section) -> Version? {
        guard let text = requiredString("version", in: entry) else { return nil }
        if let version = Version(text) { return version }
        report(
            .versionMalformed, "`\(text)` is not a version; write numbers with dots, such as 1.2.0",
            at: entry.path / "version")
        return nil
    }
}
