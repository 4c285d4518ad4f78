public import Backplane

/// What a swap has done.
public struct SwapReport: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case swapped
        /// Every library is byte for byte the one in force: nothing was done.
        case unchanged
        /// The new generation failed its probation, and the old one is in force again.
        case rolledBack
    }
    public var outcome: Outcome
    public var plugins: [PluginChange] = []
    public var components: [ComponentChange] = []
    /// Those that lead to another instance now, by the lane that fits.
    public var wires: [WireChange] = []
    /// Calls that came meanwhile and waited.
    public var callsHeld = 0
    /// The longest wait among them.
    public var longestWait = Duration.zero
    /// The time from the request until callers were served by the new code.
    public var duration = Duration.zero
    /// The same, step by step.
    public var steps: [StepTime] = []
    /// What was not as it should be and did not keep the swap.
    public var warnings: [String] = []
    /// Why a new generation failed its probation.
    public var failure: BackplaneError?

    public init(_ outcome: Outcome) { self.outcome = outcome }
}

/// A plugin that changes its generation.
public struct PluginChange: Sendable, Hashable {
    public var plugin: String
    /// The library as it was given.
    public var library: String
    public var fromGeneration: Int
    public var toGeneration: Int
    public var fromVersion: Version
    public var toVersion: Version

    package init(plugin: String, library: String, fromGeneration: Int, toGeneration: Int, fromVersion: Version, toVersion: Version) {
        (self.plugin, self.library) = (plugin, library)
        (self.fromGeneration, self.toGeneration, self.fromVersion, self.toVersion) = (fromGeneration, toGeneration, fromVersion, toVersion)
    }
}

/// A component that another instance takes the place of.
public struct ComponentChange: Sendable, Hashable {
    public enum Manner: String, Sendable, Hashable, CaseIterable {
        /// Its calls wait until the new one is active.
        case gated
        /// The new one is active before the first call comes to it, and nobody waits.
        case ungated
    }
    /// A manager's name in the manifest, anything else's class.
    public var component: String
    public var role: String
    /// What it is now; `nil`: it has no successor.
    public var className: String?
    public var fromVersion: Version?
    public var toVersion: Version?
    public var manner: Manner
    /// It is the same code, made anew since it asks for that when something it calls is swapped.
    public var isRestart = false
    public var state: StateChange?
    /// Calls that are under way in it.
    public var callsInFlight = 0

    package init(
        component: String, role: String, className: String? = nil, fromVersion: Version? = nil, toVersion: Version? = nil, manner: Manner,
        isRestart: Bool = false, state: StateChange? = nil, callsInFlight: Int = 0
    ) {
        (self.component, self.role, self.className) = (component, role, className)
        (self.fromVersion, self.toVersion, self.manner) = (fromVersion, toVersion, manner)
        (self.isRestart, self.state, self.callsInFlight) = (isRestart, state, callsInFlight)
    }
}

/// What becomes of a component's state.
public struct StateChange: Sendable, Hashable {
    public var schema: String
    /// `nil`: there is none before, or none any more.
    public var fromVersion: UInt32?
    public var toVersion: UInt32?
    /// How much was carried over; 0 in a preview.
    public var bytes = 0
    /// Why it is not carried over, where that was asked for.
    public var lost: String?

    package init(schema: String, fromVersion: UInt32? = nil, toVersion: UInt32? = nil, bytes: Int = 0, lost: String? = nil) {
        (self.schema, self.fromVersion, self.toVersion, self.bytes, self.lost) = (schema, fromVersion, toVersion, bytes, lost)
    }
}

/// A wire whose provider changes.
public struct WireChange: Sendable, Hashable {
    /// `nil`: the host program.
    public var user: String?
    public var label: String
    public var provider: String
    public var contract: String
    /// The lanes, `native`, `encoded` or `served`.
    public var fromLane: String
    public var toLane: String
    /// Why it is not native.
    public var reason: String?

    package init(user: String? = nil, label: String, provider: String, contract: String, fromLane: String, toLane: String, reason: String? = nil) {
        (self.user, self.label, self.provider, self.contract) = (user, label, provider, contract)
        (self.fromLane, self.toLane, self.reason) = (fromLane, toLane, reason)
    }
}

/// How long one step of a swap took.
public struct StepTime: Sendable, Hashable {
    public var step: SwapStep
    public var duration: Duration

    package init(step: SwapStep, duration: Duration) { (self.step, self.duration) = (step, duration) }
}
