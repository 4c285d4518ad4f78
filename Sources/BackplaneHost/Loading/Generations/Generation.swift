public import Backplane

/// One loaded copy of a plugin's library.
public struct Generation: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// In memory, and not in force yet: it is being prepared, or somebody asked what its swap would do.
        case loaded
        case inForce
        /// In force, and given up again if it fails.
        case onProbation
        /// Another one has taken its place. It stays in memory, since Swift's runtime cannot forget a library.
        case retired
        /// It never came into force, or failed before that was for good.
        case failed
    }
    public var plugin: String
    /// From 1, for each plugin.
    public var number: Int
    public var version: Version
    /// Where it was built; `nil`: it is linked into this program.
    public var library: String?
    public var state: State
    /// Seconds since 1970.
    public var loadedAt: Double
    /// Bytes of memory that are this generation's alone; `nil`: not known.
    public var dirtyBytes: Int?
    /// Bytes of address space.
    public var mappedBytes: Int?
    /// What keeps it, a sentence each.
    public var heldBy: [String] = []
    /// Can it be rolled back to?
    public var canReturn = false

    public init(plugin: String, number: Int, version: Version, library: String?, state: State, loadedAt: Double) {
        (self.plugin, self.number, self.version, self.library) = (plugin, number, version, library)
        (self.state, self.loadedAt) = (state, loadedAt)
    }
}
