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

/// A component's configuration and wires as its context keeps them, whatever their types.
///
/// The contexts do not ask of their owner that it be a component, though it always is: to have one of them Swift's runtime would
/// look through all that is loaded for that, each time a plugin is loaded.
struct KeptParts: Sendable {
    private let parts: (configuration: any Sendable, wires: any Sendable)

    init<Owner: Component>(_ parts: ContextParts<Owner>) { self.parts = (parts.configuration, parts.wires) }

    func configuration<Value>() -> Value { parts.configuration as! Value }      // what it was made of
    func wires<Value>() -> Value { parts.wires as! Value }
}

/// What a manager has: its collaborators and other managers; no store, no network.
public struct ManagerContext<Owner>: Sendable {
    private let kept: KeptParts
    public let services: ComponentServices
}

extension ManagerContext: ComponentContext where Owner: Component {
    public static var role: Role { .manager }
    public var configuration: Owner.Configuration { kept.configuration() }
    public var wires: Owner.Wires { kept.wires() }

    public init(_ parts: ContextParts<Owner>) {
        (kept, services) = (KeptParts(parts), parts.services)
    }
}

/// What a data access controller has: a place to keep things.
public struct DataAccessContext<Owner>: Sendable {
    private let kept: KeptParts
    /// The path of a private folder for plain files: mode 0700, there already, and never removed by the host.
    public let folder: String
    public let services: ComponentServices
}

extension DataAccessContext: ComponentContext where Owner: Component {
    public static var role: Role { .dataAccessController }
    public var configuration: Owner.Configuration { kept.configuration() }

    public init(_ parts: ContextParts<Owner>) {
        (kept, folder, services) = (KeptParts(parts), parts.folder, parts.services)
    }
}

extension DataAccessContext: MayUseStore where Owner: Component {}

/// What a communication controller has: its network services and the network.
public struct CommunicationContext<Owner>: Sendable {
    private let kept: KeptParts
    public let services: ComponentServices
}

extension CommunicationContext: ComponentContext where Owner: Component {
    public static var role: Role { .communicationController }
    public var configuration: Owner.Configuration { kept.configuration() }
    public var wires: Owner.Wires { kept.wires() }

    public init(_ parts: ContextParts<Owner>) {
        (kept, services) = (KeptParts(parts), parts.services)
    }
}

extension CommunicationContext: MayUseNetwork where Owner: Component {}

/// What a network service has: the network.
public struct NetworkServiceContext<Owner>: Sendable {
    private let kept: KeptParts
    public let services: ComponentServices
}

extension NetworkServiceContext: ComponentContext where Owner: Component {
    public static var role: Role { .networkService }
    public var configuration: Owner.Configuration { kept.configuration() }

    public init(_ parts: ContextParts<Owner>) {
        (kept, services) = (KeptParts(parts), parts.services)
    }
}

extension NetworkServiceContext: MayUseNetwork where Owner: Component {}

/// The context of a role that may use the host's record store: `context.store`, for those who import `BackplaneStorage`.
public protocol MayUseStore: ComponentContext {}

/// The context of a role that may use the host's HTTP: `context.http`, for those who import `BackplaneNetwork`.
public protocol MayUseNetwork: ComponentContext {}
