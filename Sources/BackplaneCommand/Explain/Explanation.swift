import Backplane
import BackplaneHost

/// An explanation of a manager: its chosen classes and wires, or the reasons why it cannot be created.
struct Explanation: Codable, Sendable {
    enum State: String, Codable, Sendable {
        case resolved, unsatisfied
    }
    var manager: String
    var state: State
    /// The state of the manager in a running host, or `nil` if no host was queried.
    var life: Life?
    var place: ManifestPlace
    /// The components of the definition: the manager, its controllers and its services.
    var components: [ExplainedComponent]
    var uses: [Use]
    /// The reasons why the manager cannot be created, each with its causes.
    var reasons: [Reason]
    /// The non-fatal problems of the manager.
    var warnings: [Reason]
    /// The problems of the manifest as a whole, if the manager cannot be created; they may be the cause.
    var manifest: [Reason]

    /// The state of a manager in a running host.
    struct Life: Codable, Sendable {
        var state: String
        /// The reason why the manager is not ready.
        var reason: String?
    }

    /// A component of the manager's definition.
    struct ExplainedComponent: Codable, Sendable {
        var role: String
        /// The property of the communication controller that holds the service; `nil` for other roles.
        var property: String?
        var className: String
        /// The accepted versions, or `nil` for any.
        var range: String?
        /// The chosen version, or `nil` if no component fits.
        var version: String?
        var plugin: String?
        var why: String
        var passedOver: [PassedOver]
        /// The other managers that share the component.
        var sharedWith: [String]
        /// The streams of the contract that it provides; `nil` if it has none.
        var streams: [String]?
        var wires: [WireRow]
        /// The labels of optional wires that are not connected.
        var unconnected: [String]
        var place: ManifestPlace
    }

    /// A component of the same class that was not chosen.
    struct PassedOver: Codable, Sendable, Hashable {
        var version: String
        var plugin: String
        var because: String
    }

    /// Another manager that this one uses.
    struct Use: Codable, Sendable {
        var label: String
        var manager: String
        /// The state of the other manager, or `nil` if it does not exist.
        var state: State?
        var life: Life?
        var place: ManifestPlace
    }

    /// An error or a warning, and its causes.
    struct Reason: Codable, Sendable {
        /// The manager concerned; `nil` for the manifest as a whole, and for the underlying causes of an error.
        var manager: String?
        var code: String
        var message: String
        var place: ManifestPlace
        var because: [Reason]
    }
}
