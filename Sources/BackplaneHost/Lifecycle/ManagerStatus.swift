public import Backplane

/// A manager of the manifest, and how it is.
public struct ManagerStatus: Sendable, Hashable {
    public var name: String
    public var state: ManagerState
    /// Its class, that class's version and the plugin that brings it; `nil` when none was found.
    public var className: String?
    public var version: Version?
    public var plugin: String?
}

/// Where a manager is in its life.
public enum ManagerState: Sendable, Hashable {
    /// Everything it needs is there; nothing was started yet.
    case resolved
    case starting
    case ready
    /// No more calls come in; those under way end, and then it stops.
    case quiescing
    case stopped
    /// The manifest and the plugins do not give what it needs, or a manager that it uses did not start.
    case unsatisfied(BackplaneError)
    /// It, or one of its layers, did not start.
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
