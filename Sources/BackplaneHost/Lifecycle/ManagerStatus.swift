public import Backplane

/// A manager of the manifest and its current state.
public struct ManagerStatus: Sendable, Hashable {
    /// The manager's name in the manifest.
    public var name: String
    /// The manager's current state.
    public var state: ManagerState
    /// The manager's class, taken from the manifest if no plugin provides it; `nil` if the manifest names none.
    public var className: String?
    /// The version of the class, or `nil` if no plugin provides it.
    public var version: Version?
    /// The id of the plugin that provides the class, or `nil` if none does.
    public var plugin: String?
}

/// The stages of a manager's lifecycle.
public enum ManagerState: Sendable, Hashable {
    /// Everything that the manager needs is present, but the manager has not been started.
    case resolved
    /// The manager is being created and activated.
    case starting
    /// The manager accepts calls.
    case ready
    /// The manager accepts no more calls, and stops once those in flight have ended.
    case quiescing
    /// The manager has stopped.
    case stopped
    /// The manager lacks something in the manifest or the plugins, or a manager that it uses did not start.
    case unsatisfied(BackplaneError)
    /// The manager, or one of its collaborators, did not start.
    case failed(BackplaneError)
}

extension ManagerState: CustomStringConvertible {
    /// The state's name, without the reason.
    public var description: String {
        switch self {
        case .resolved: "resolved"
        case .starting: "starting"
        case .ready: "ready"
        case .quiescing: "quiescing"
        case .stopped: "stopped"
        case .unsatisfied: "unsatisfied"
        case .failed: "failed"
        }
    }
}
