internal import Backplane

extension ManifestReader {
    /// The lock; `nil` if there is none, or one with a mistake. It is written by a program: variables are not for it.
    mutating func lock(in root: Section) -> [String: LockedClass]? {
        guard !ignoresLock, let section = dictionary("lock", in: root) else { return nil }
        let before = problems.count
        var lock: [String: LockedClass] = [:]
        for key in section.values.keys.sorted() {
            guard let entry = dictionary(key, in: section) else { continue }
            let plugin = requiredString("plugin", in: entry), version = version(in: entry)
            warnOfUnknownKeys(in: entry, known: .lockedClass)
            if let plugin, let version { lock[key] = LockedClass(plugin: plugin, version: version) }
        }
        return problems[before...].contains { $0.severity == .error } ? nil : lock
    }

    private mutating func version(in entry: Section) -> Version? {
        guard let text = requiredString("version", in: entry) else { return nil }
        if let version = Version(text) { return version }
        report(.versionMalformed, "`\(text)` is not a version; write numbers with dots, such as 1.2.0", at: entry.path / "version")
        return nil
    }
}
