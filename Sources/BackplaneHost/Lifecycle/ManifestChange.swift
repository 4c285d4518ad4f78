/// The effect of activating a manifest on its managers, by name.
public struct ManifestChange: Codable, Sendable, Hashable {
    /// The managers that were not running before.
    public var started: Set<String> = []
    /// The managers whose instance was replaced.
    public var restarted: Set<String> = []
    /// The managers that are no longer running.
    public var stopped: Set<String> = []
    /// The managers that were reconfigured without being recreated, or that have such a collaborator.
    public var reconfigured: Set<String> = []
    /// The managers that were not affected.
    public var kept: Set<String> = []

    package init(
        started: Set<String>, restarted: Set<String>, stopped: Set<String>, reconfigured: Set<String> = [],
        kept: Set<String>
    ) {
        self.reconfigured = reconfigured
        (self.started, self.restarted, self.stopped, self.kept) = (started, restarted, stopped, kept)
    }

    init(before: Set<String>, after: Set<String>, remade: Set<String>, reconfigured: Set<String> = []) {
        started = after.subtracting(before)
        stopped = before.subtracting(after)
        restarted = before.intersection(after).intersection(remade)
        self.reconfigured = before.intersection(after).intersection(reconfigured).subtracting(remade)
        kept = before.intersection(after).subtracting(remade).subtracting(reconfigured)
    }
}
