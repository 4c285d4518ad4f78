import Backplane

/// Holds changes back until no more come, since one save is several of them and a build is hundreds.
struct Settling {
    /// How long nothing new must have come.
    let quiet: Duration
    /// How long the first waits at most, however many follow it.
    let patience: Duration
    private var changes = WatchedChanges()
    private var first, last: Deadline?

    init(quiet: Duration, patience: Duration) {
        (self.quiet, self.patience) = (quiet, patience)
    }

    /// When what has come is to be told; `nil`: nothing has.
    var due: Deadline? {
        guard let first, let last else { return nil }
        return min(last + quiet, first + patience)
    }

    mutating func add(_ news: WatchedChanges, at now: Deadline) {
        guard !news.isEmpty else { return }
        changes.add(news)
        first = first ?? now
        last = now
    }

    /// What is due by now, once.
    mutating func take(at now: Deadline) -> WatchedChanges? {
        guard let due, due <= now else { return nil }
        defer { (changes, first, last) = (WatchedChanges(), nil, nil) }
        return changes
    }
}
