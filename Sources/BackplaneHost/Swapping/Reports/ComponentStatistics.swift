/// What has been asked of a component since it, or its first predecessor, came up.
public struct ComponentStatistics: Sendable, Hashable {
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

    package init(
        component: String, role: String, managers: [String], plugin: String, generation: Int, calls: Int, errors: Int, inFlight: Int, waiting: Int
    ) {
        (self.component, self.role, self.managers, self.plugin, self.generation) = (component, role, managers, plugin, generation)
        (self.calls, self.errors, self.inFlight, self.waiting) = (calls, errors, inFlight, waiting)
    }
}
