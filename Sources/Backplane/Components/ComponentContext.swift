/// What a component is made with, and may keep: after its host is gone, what it offers fails and never crashes.
public protocol ComponentContext: Sendable {
    associatedtype Owner: Component
    static var role: Role { get }
    /// Where the log, the tasks and the host's services of this component are reached.
    var services: ComponentServices { get }
    /// The manifest's configuration, decoded.
    var configuration: Owner.Configuration { get }
}

extension ComponentContext {
    /// The host's log, under this component's name.
    public var log: Log { services.log }

    /// Work that belongs to the component: cancelled when it stops, or when a swap has replaced it.
    public var tasks: ComponentTasks { services.tasks }

    /// The configuration as the manifest gives it, JSON: also what `Configuration` has no property for.
    public var rawConfiguration: [UInt8] { services.rawConfiguration }

    /// The files that came with the plugin.
    public var resources: Resources { services.resources }

    /// A call that begins here, not in answer to somebody: a timer, a start.
    public func begin(within duration: Duration? = nil) -> Call { Call(within: duration) }
}

/// What a manager has: its collaborators and other managers; no store, no network.
public struct ManagerContext<Owner>: Sendable {
    let parts: ContextParts
    public var services: ComponentServices { parts.services }
}

extension ManagerContext: ComponentContext where Owner: Component {
    public static var role: Role { .manager }
    public var configuration: Owner.Configuration { parts.configuration() }
    public var wires: Owner.Wires { parts.wires() }
}

/// What a data access controller has: a place to keep things.
public struct DataAccessContext<Owner>: Sendable {
    let parts: ContextParts
    /// The path of a private folder for plain files: mode 0700, there already, and never removed by the host.
    public var folder: String { parts.folder }
    public var services: ComponentServices { parts.services }
}

extension DataAccessContext: ComponentContext where Owner: Component {
    public static var role: Role { .dataAccessController }
    public var configuration: Owner.Configuration { parts.configuration() }
}

extension DataAccessContext: MayUseStore where Owner: Component {}

/// What a communication controller has: its network services and the network.
public struct CommunicationContext<Owner>: Sendable {
    let parts: ContextParts
    public var services: ComponentServices { parts.services }
}

extension CommunicationContext: ComponentContext where Owner: Component {
    public static var role: Role { .communicationController }
    public var configuration: Owner.Configuration { parts.configuration() }
    public var wires: Owner.Wires { parts.wires() }
}

extension CommunicationContext: MayUseNetwork where Owner: Component {}

/// What a network service has: the network.
public struct NetworkServiceContext<Owner>: Sendable {
    let parts: ContextParts
    public var services: ComponentServices { parts.services }
}

extension NetworkServiceContext: ComponentContext where Owner: Component {
    public static var role: Role { .networkService }
    public var configuration: Owner.Configuration { parts.configuration() }
}

extension NetworkServiceContext: MayUseNetwork where Owner: Component {}

/// The context of a role that may use the host's record store: `context.store`, for those who import `BackplaneStorage`.
public protocol MayUseStore: ComponentContext {}

/// The context of a role that may use the host's HTTP: `context.http`, for those who import `BackplaneNetwork`.
public protocol MayUseNetwork: ComponentContext {}
