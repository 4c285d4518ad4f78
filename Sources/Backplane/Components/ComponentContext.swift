/// What a component is made with, and may keep: after its host is gone, what it offers fails and never crashes.
public protocol ComponentContext: Sendable {
    associatedtype Owner: Component
    static var role: Role { get }
    /// Where the log, the tasks and the host's services of this component are reached.
    var services: ComponentServices { get }
    /// The manifest's configuration, decoded.
    var configuration: Owner.Configuration { get }
    /// Contexts are made by the SDK.
    init(_ parts: ContextParts<Owner>)
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

/// What contexts are made of; only the SDK can make one.
public struct ContextParts<Owner: Component>: Sendable {
    let configuration: Owner.Configuration
    let wires: Owner.Wires
    let folder: String
    let services: ComponentServices
}

/// What a manager has: its collaborators and other managers; no store, no network.
public struct ManagerContext<Owner: Component>: ComponentContext {
    public static var role: Role { .manager }
    public let configuration: Owner.Configuration
    public let wires: Owner.Wires
    public let services: ComponentServices

    public init(_ parts: ContextParts<Owner>) {
        (configuration, wires, services) = (parts.configuration, parts.wires, parts.services)
    }
}

/// What a data access controller has: a place to keep things.
public struct DataAccessContext<Owner: Component>: MayUseStore {
    public static var role: Role { .dataAccessController }
    public let configuration: Owner.Configuration
    /// The path of a private folder for plain files: mode 0700, there already, and never removed by the host.
    public let folder: String
    public let services: ComponentServices

    public init(_ parts: ContextParts<Owner>) {
        (configuration, folder, services) = (parts.configuration, parts.folder, parts.services)
    }
}

/// What a communication controller has: its network services and the network.
public struct CommunicationContext<Owner: Component>: MayUseNetwork {
    public static var role: Role { .communicationController }
    public let configuration: Owner.Configuration
    public let wires: Owner.Wires
    public let services: ComponentServices

    public init(_ parts: ContextParts<Owner>) {
        (configuration, wires, services) = (parts.configuration, parts.wires, parts.services)
    }
}

/// What a network service has: the network.
public struct NetworkServiceContext<Owner: Component>: MayUseNetwork {
    public static var role: Role { .networkService }
    public let configuration: Owner.Configuration
    public let services: ComponentServices

    public init(_ parts: ContextParts<Owner>) {
        (configuration, services) = (parts.configuration, parts.services)
    }
}

/// The context of a role that may use the host's record store: `context.store`, for those who import `BackplaneStorage`.
public protocol MayUseStore: ComponentContext {}

/// The context of a role that may use the host's HTTP: `context.http`, for those who import `BackplaneNetwork`.
public protocol MayUseNetwork: ComponentContext {}
