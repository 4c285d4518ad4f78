/// The call counts of a component since it, or its first predecessor, came up.
public struct ComponentStatistics: Sendable, Hashable {
    /// The manager's name in the manifest, or the class name of any other component.
    public var component: String
    /// The component's role in words, such as `manager` or `network service`.
    public var role: String
    /// The managers whose definitions contain the component.
    public var managers: [String]
    /// The id of the plugin that provides the component.
    public var plugin: String
    /// The generation of the plugin whose code runs.
    public var generation: Int
    /// The number of calls that began.
    public var calls: Int
    /// The number of those calls that failed, without cancelled ones.
    public var errors: Int
    /// The number of calls in flight.
    public var inFlight: Int
    /// The number of calls that wait for a change to end.
    public var waiting: Int

    package init(
        component: String, role: String, managers: [String], plugin: String, generation: Int, calls: Int, errors: Int,
        inFlight: Int, waiting: Int
    ) {
        (self.component, self.role, self.managers, self.plugin, self.generation) = (
            component, role, managers, plugin, generation
        )
        (self.calls, self.errors, self.inFlight, self.waiting) = (calls, errors, inFlight, waiting)
    }
}
