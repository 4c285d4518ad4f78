/// What has been asked of a component since it, or its first predecessor, came up.
public struct ComponentStatistics: Sendable, Hashable, Codable {
    /// A manager's name in the manifest, anything else's class.
    public var component: String
    public var role: String
    /// The managers in whose definition it stands.
    public var managers: [String]
    public var plugin: String
    /// Of its plugin, the one whose code runs.
    public var generation: Int
    /// Calls that began.
    public var calls: Int
    /// Of those, the ones that failed.
    public var errors: Int
    public var inFlight: Int
    /// Calls that wait for a change to end.
    public var waiting: Int
}
