public import Backplane

/// A loaded copy of a plugin's library.
public struct Generation: Codable, Sendable, Hashable {
    /// The stage of a generation's lifecycle.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// A generation in memory that is not active yet, because it is being prepared or a swap to it was previewed.
        case loaded
        /// The active generation, which receives calls.
        case active
        /// The active generation while it is on probation, which is reverted if it fails.
        case onProbation
        /// A generation that was replaced; it stays in memory, because Swift's runtime cannot unload a library.
        case retired
        /// A generation that was never activated, or failed before its activation became final.
        case failed
    }
    /// The id of the plugin.
    public var plugin: String
    /// The number of the generation, counted from 1 for each plugin.
    public var number: Int
    /// The version of the plugin.
    public var version: Version
    /// The path at which the library was built; `nil` if it is linked into this program.
    public var library: String?
    /// The current stage of the generation's lifecycle.
    public var state: State
    /// The time of loading, in seconds since 1970.
    public var loadedAt: Double
    /// The memory used only by this generation, in bytes; `nil` if unknown.
    public var dirtyBytes: Int?
    /// The address space of the generation, in bytes; `nil` if unknown.
    public var mappedBytes: Int?
    /// The reasons why the generation is still in memory.
    public var heldBy: [String] = []
    /// A Boolean value that indicates whether a rollback to this generation is possible.
    public var canReturn = false

    /// Creates the description of a generation.
    public init(plugin: String, number: Int, version: Version, library: String?, state: State, loadedAt: Double) {
        (self.plugin, self.number, self.version, self.library) = (plugin, number, version, library)
        (self.state, self.loadedAt) = (state, loadedAt)
    }
}
