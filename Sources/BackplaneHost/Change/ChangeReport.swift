public import Backplane

/// The plan or the result of a change: an applied manifest, a swap, a rollback, or a reset.
public struct ChangeReport: Codable, Sendable, Hashable {
    /// The ways in which a change can end without an error.
    public enum Outcome: String, Codable, Sendable, Hashable, CaseIterable {
        /// The change was only planned, and nothing was done.
        case planned
        /// The change is complete.
        case changed
        /// The target is identical to the active composition, and nothing was done.
        case unchanged
        /// The new generation failed its probation, and the old one is active again.
        case rolledBack
    }
    /// The way in which the change ended.
    public var outcome: Outcome
    /// The plugins that change their generation.
    public var plugins: [PluginChange] = []
    /// The effect on the managers.
    public var managers = ManagerChanges()
    /// The components that change, in order of creation.
    public var components: [ComponentChange] = []
    /// The wires that lead to another instance, each with its lanes before and after.
    public var wires: [WireChange] = []
    /// The reasons for refusing a planned change, without confidential details; empty if it would proceed.
    public var refusals: [BackplaneError] = []
    /// The number of calls that arrived during the change and had to wait.
    public var callsHeld = 0
    /// The longest time that one of those calls waited.
    public var longestWait = Duration.zero
    /// The time from the request until the new instances served callers.
    public var duration = Duration.zero
    /// The time that each step took.
    public var steps: [StepTime] = []
    /// The non-fatal problems of the change.
    public var warnings: [String] = []
    /// The reason why a new generation failed its probation, without confidential details.
    public var failure: BackplaneError?

    /// Creates a report that contains only the outcome.
    public init(_ outcome: Outcome) { self.outcome = outcome }
}

/// The effect of a change on the managers, by name.
public struct ManagerChanges: Codable, Sendable, Hashable {
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
}

extension ManagerChanges {
    init(before: Set<String>, after: Set<String>, remade: Set<String>, reconfigured: Set<String> = []) {
        started = after.subtracting(before)
        stopped = before.subtracting(after)
        restarted = before.intersection(after).intersection(remade)
        self.reconfigured = before.intersection(after).intersection(reconfigured).subtracting(remade)
        kept = before.intersection(after).subtracting(remade).subtracting(reconfigured)
    }
}

/// A change of a plugin from one generation to another.
public struct PluginChange: Codable, Sendable, Hashable {
    /// The plugin's id.
    public var plugin: String
    /// The library as the caller named it.
    public var library: String
    /// The number of the replaced generation; 0 if the manifest did not have the plugin.
    public var fromGeneration: Int
    /// The number of the generation that replaces it.
    public var toGeneration: Int
    /// The plugin's version in the replaced generation.
    public var fromVersion: Version
    /// The plugin's version in the generation that replaces it.
    public var toVersion: Version
}

/// A component that a change creates, replaces, reconfigures or stops.
public struct ComponentChange: Codable, Sendable, Hashable {
    /// The ways in which a component changes.
    public enum Action: String, Codable, Sendable, Hashable, CaseIterable {
        /// A component that was not running starts.
        case started
        /// An instance of other code takes the place of the running one.
        case replaced
        /// Another instance of the same code takes the place of the running one.
        case recreated
        /// The running instance receives another configuration.
        case reconfigured
        /// The component ends without a successor.
        case stopped
    }
    /// The ways in which calls switch to the new instance.
    public enum Manner: String, Codable, Sendable, Hashable, CaseIterable {
        /// Calls wait until the new instance is active.
        case gated
        /// The new instance is active before the first call reaches it, and no calls wait.
        case ungated
    }
    /// The manager's name in the manifest, or the class name of any other component.
    public var component: String
    /// The component's role in words, such as `manager` or `network service`.
    public var role: String
    /// The way in which the component changes.
    public var action: Action
    /// The reason for the change, as a sentence without a full stop.
    public var reason: String
    /// The class of the new instance, or of the one that stops, under the name that its plugin registers.
    public var className: String
    /// The version of the old instance's class, or `nil` if the component was not running.
    public var fromVersion: Version?
    /// The version of the new instance's class, or of the one that stops.
    public var toVersion: Version
    /// The way in which calls switch to the new instance.
    public var manner = Manner.ungated
    /// The former name of a manager, or `nil` if its name is unchanged.
    public var formerName: String?
    /// The change of the component's state, or `nil` if neither class has any.
    public var state: StateChange?
    /// The number of calls in flight in the old instance.
    public var callsInFlight = 0
    /// The names of the graphs of operations that end in the replaced instance.
    ///
    /// A report lists the graphs that have outlasted the change. A plan lists all graphs that are running.
    public var graphs: [String] = []
}

/// The transfer of a component's state between two versions of its schema.
public struct StateChange: Codable, Sendable, Hashable {
    /// The name of the state's schema.
    public var schema: String
    /// The schema version before the change, or `nil` if there was no state.
    public var fromVersion: UInt32?
    /// The schema version after the change, or `nil` if the new code has no state.
    public var toVersion: UInt32?
    /// The number of bytes carried over; 0 in a plan and for a Swift value.
    public var bytes = 0
    /// The lane of the state: `native` for a Swift value, or `encoded`; `nil` if no state is carried over.
    public var lane: String?
    /// The reason why the lane is not native.
    public var reason: String?
    /// The reason why the state cannot be carried over, or `nil` if no state is lost.
    public var lost: String?
    /// A remark about the state other than a loss, or `nil` if there is none.
    public var remark: String?
}

/// A change of a wire's provider.
public struct WireChange: Codable, Sendable, Hashable {
    /// The calling component, or `nil` for the host program.
    public var user: String?
    /// The wire's label.
    public var label: String
    /// The component that is called.
    public var provider: String
    /// The name of the wire's contract.
    public var contract: String
    /// The lane before the change: `native`, `encoded` or `served`.
    public var fromLane: String
    /// The lane after the change: `native`, `encoded` or `served`.
    public var toLane: String
    /// The reason why the new lane is not native.
    public var reason: String?
}

/// The time taken by one step of a change.
public struct StepTime: Codable, Sendable, Hashable {
    /// The part of the change that was timed.
    public var step: ChangeStep
    /// The time that it took.
    public var duration: Duration
}
