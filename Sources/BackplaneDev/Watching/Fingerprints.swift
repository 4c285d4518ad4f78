/// What files held when they were last looked at, to tell those that were only touched from those that changed.
struct Fingerprints: Sendable {
    private var known: [String: FileFingerprint] = [:]

    /// Remembers what these files hold now.
    mutating func remember(_ paths: some Sequence<String>) {
        for path in paths { known[path] = FileFingerprint(of: path) }
    }

    /// Those of `paths` that hold something else than when they were last looked at, or are there and were never looked at; what they hold
    /// now is remembered.
    ///
    /// Reads all of them. A folder that is gone has changed if files below it were there.
    mutating func changed(among paths: some Sequence<String>) -> Set<String> {
        Set(paths).filter { path in
            let now = FileFingerprint(of: path), before = known.updateValue(now, forKey: path)
            if now == .missing { return lose(path, before) }
            // A folder is told of for what was in it.
            return before != now || now == .other
        }
    }

    /// Remembers that nothing is there, nor below it; `false`: nothing was.
    private mutating func lose(_ path: String, _ before: FileFingerprint?) -> Bool {
        // Nothing is below a file.
        if case .contents = before { return true }
        let below = known.filter { $0.value != .missing && $0.key.hasPrefix(path + "/") }.keys
        for file in below { known[file] = .missing }
        // One that came and went meanwhile was never there.
        return before.map { $0 != .missing } ?? false || !below.isEmpty
    }
}
