public import Backplane

/// What a swap has done.
public struct SwapReport: Sendable, Hashable, Codable {
    public enum Outcome: String, Sendable, Hashable, Codable {
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
    /// Calls that came meanwhile and waited, and the longest wait.
    public var callsHeld = 0
    public var longestWait = 0.0
    /// Milliseconds from the call until callers were served by the new code.
    public var milliseconds = 0.0
    /// The same, step by step.
    public var steps: [StepTime] = []
    /// What was not as it should be and did not keep the swap.
    public var warnings: [String] = []
    /// Why a new generation failed its probation.
    public var failure: BackplaneError?

    public init(_ outcome: Outcome) { self.outcome = outcome }
}

/// A plugin that changes its generation.
public struct PluginChange: Sendable, Hashable, Codable {
    public var plugin: String
    /// The library as it was given.
    public var library: String
    public var fromGeneration: Int
    public var toGeneration: Int
    public var fromVersion: Version
    public var toVersion: Version
}

/// A component that another instance takes the place of.
public struct ComponentChange: Sendable, Hashable, Codable {
    public enum Manner: String, Sendable, Hashable, Codable {
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
}

/// What becomes of a component's state.
public struct StateChange: Sendable, Hashable, Codable {
    public var schema: String
    /// `nil`: there is none before, or none any more.
    public var fromVersion: UInt32?
    public var toVersion: UInt32?
    /// How much was carried over; 0 in a preview.
    public var bytes = 0
    /// Why it is not carried over, where that was asked for.
    public var lost: String?
}

/// A wire whose provider changes.
public struct WireChange: Sendable, Hashable, Codable {
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
}

/// How long one step of a swap took.
public struct StepTime: Sendable, Hashable, Codable {
    public var step: SwapStep
    public var milliseconds: Double
}
