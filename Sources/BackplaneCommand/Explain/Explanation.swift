import Backplane
import BackplaneHost

/// Why a manager is as it is: the classes that were chosen for it and what with, or what keeps it from being created.
struct Explanation: Codable, Sendable {
    enum State: String, Codable, Sendable {
        case resolved, unsatisfied
    }
    var manager: String
    var state: State
    /// How it is in a host that runs; `nil`: none was asked.
    var life: Life?
    var place: Place
    /// The manager itself, its layers, its services.
    var components: [Component]
    var uses: [Use]
    /// Why it cannot be created, down to where that begins.
    var reasons: [Reason]
    /// What is wrong with it and keeps it from nothing.
    var warnings: [Reason]
    /// What is wrong with the manifest as a whole, of one that cannot be created: that may be why.
    var manifest: [Reason]

    /// Where a manager is in its life, in a host.
    struct Life: Codable, Sendable {
        var state: String
        /// Why it is not up.
        var reason: String?
    }

    /// What fills one place in its definition.
    struct Component: Codable, Sendable {
        var role: String
        /// The communication controller's property, of a service.
        var property: String?
        var className: String
        /// The versions that are accepted; `nil`: any.
        var range: String?
        /// What was chosen; `nil`: nothing fits.
        var version: String?
        var plugin: String?
        var why: String
        var passedOver: [PassedOver]
        /// The other managers that have the same one.
        var sharedWith: [String]
        var wires: [WireRow]
        /// The labels of optional wires that nothing is connected to.
        var unconnected: [String]
        var place: Place
    }

    /// A component of the same class that was not chosen.
    struct PassedOver: Codable, Sendable, Hashable {
        var version: String
        var plugin: String
        var because: String
    }

    /// Another manager that it uses.
    struct Use: Codable, Sendable {
        var label: String
        var manager: String
        /// `nil`: there is no such manager.
        var state: State?
        var life: Life?
        var place: Place
    }

    /// An error or a warning, and what it comes from.
    struct Reason: Codable, Sendable {
        /// Whom it is about, where that is another manager.
        var manager: String?
        var code: String
        var message: String
        var place: Place
        var because: [Reason]
    }
}
