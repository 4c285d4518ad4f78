/// What putting a manifest in force has done to the managers, by name.
public struct ManifestChange: Sendable, Hashable {
    /// Those that were not up before.
    public var started: Set<String> = []
    /// Those that are another instance than before.
    public var restarted: Set<String> = []
    /// Those that are no longer up.
    public var stopped: Set<String> = []
    /// Those that noticed nothing.
    public var kept: Set<String> = []

    package init(started: Set<String>, restarted: Set<String>, stopped: Set<String>, kept: Set<String>) {
        (self.started, self.restarted, self.stopped, self.kept) = (started, restarted, stopped, kept)
    }

    init(before: Set<String>, after: Set<String>, remade: Set<String>) {
        started = after.subtracting(before)
        stopped = before.subtracting(after)
        restarted = before.intersection(after).intersection(remade)
        kept = before.intersection(after).subtracting(remade)
    }
}
