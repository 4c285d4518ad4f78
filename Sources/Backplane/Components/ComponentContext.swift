/// The configuration of a component, and the services that its role may use.
///
/// A context can be stored. After its host has stopped, its services fail with an error instead of crashing.
public protocol ComponentContext: Sendable {
    /// The component to which the context belongs.
    associatedtype Owner: Component
    /// The role that determines what the context offers.
    static var role: Role { get }
    /// Access to the log, the tasks and the host's services of this component.
    var services: ComponentServices { get }
    /// The decoded configuration from the manifest.
    var configuration: Owner.Configuration { get }
}

extension ComponentContext {
    /// The host's log, under this component's name.
    public var log: Log { services.log }

    /// The tasks and timers of the component, which are cancelled when it stops or when a swap has replaced it.
    public var tasks: ComponentTasks { services.tasks }

    /// The configuration as written in the manifest, in JSON, including keys for which `Configuration` has no property.
    public var rawConfiguration: [UInt8] { services.rawConfiguration }

    /// The resource files of the plugin.
    public var resources: Resources { services.resources }

    /// Begins a call that serves no other call, for example from a timer or at start.
    ///
    /// - Parameters:
    ///   - duration: The time until the call's deadline; `nil` for a call without one.
    ///   - traceparent: The trace that the call continues, in the format of the W3C Trace Context header `traceparent`.
    ///     If it is `nil` or malformed, a new trace begins.
    public func begin(within duration: Duration? = nil, traceparent: String? = nil) -> Call {
        Call(within: duration, traceparent: traceparent)
    }
}

/// The context of a manager: its collaborators and other managers, but no store and no network.
public struct ManagerContext<Owner>: Sendable {
    let parts: ContextParts
    /// Access to the log, the tasks and the host's services of this component.
    public var services: ComponentServices { parts.services }
}

extension ManagerContext: ComponentContext where Owner: Component {
    /// The role to which the context belongs: `manager`.
    public static var role: Role { .manager }
    /// The decoded configuration from the manifest.
    public var configuration: Owner.Configuration { parts.configuration() }
    /// The component's collaborators.
    public var wires: Owner.Wires { parts.wires() }
}

/// The context of a data access controller: a folder and the host's record store.
public struct DataAccessContext<Owner>: Sendable {
    let parts: ContextParts
    /// The path of a private folder for plain files.
    ///
    /// The folder exists, has mode 0700, and is never removed by the host.
    public var folder: String { parts.folder }
    /// Access to the log, the tasks and the host's services of this component.
    public var services: ComponentServices { parts.services }
}

extension DataAccessContext: ComponentContext where Owner: Component {
    /// The role to which the context belongs: `dataAccessController`.
    public static var role: Role { .dataAccessController }
    /// The decoded configuration from the manifest.
    public var configuration: Owner.Configuration { parts.configuration() }
}

extension DataAccessContext: MayUseStore where Owner: Component {}

extension DataAccessContext: HasFolder where Owner: Component {}

/// The context of a communication controller: its network services, a folder and the host's HTTP.
public struct CommunicationContext<Owner>: Sendable {
    let parts: ContextParts
    /// The path of a private folder for plain files, which is created on first access.
    ///
    /// The folder has mode 0700 and is never removed by the host.
    public var folder: String { parts.createdFolder }
    /// Access to the log, the tasks and the host's services of this component.
    public var services: ComponentServices { parts.services }
}

extension CommunicationContext: ComponentContext where Owner: Component {
    /// The role to which the context belongs: `communicationController`.
    public static var role: Role { .communicationController }
    /// The decoded configuration from the manifest.
    public var configuration: Owner.Configuration { parts.configuration() }
    /// The component's collaborators.
    public var wires: Owner.Wires { parts.wires() }
}

extension CommunicationContext: MayUseNetwork where Owner: Component {}

extension CommunicationContext: HasFolder where Owner: Component {}

/// The context of a network service: a folder and the host's HTTP.
public struct NetworkServiceContext<Owner>: Sendable {
    let parts: ContextParts
    /// The path of a private folder for plain files, which is created on first access.
    ///
    /// The folder has mode 0700 and is never removed by the host.
    public var folder: String { parts.createdFolder }
    /// Access to the log, the tasks and the host's services of this component.
    public var services: ComponentServices { parts.services }
}

extension NetworkServiceContext: ComponentContext where Owner: Component {
    /// The role to which the context belongs: `networkService`.
    public static var role: Role { .networkService }
    /// The decoded configuration from the manifest.
    public var configuration: Owner.Configuration { parts.configuration() }
}

extension NetworkServiceContext: MayUseNetwork where Owner: Component {}

extension NetworkServiceContext: HasFolder where Owner: Component {}

/// The context of a role that may use the host's record store, as `context.store` of `BackplaneStorage`.
public protocol MayUseStore: ComponentContext {}

/// The context of a role that has a private folder for plain files.
public protocol HasFolder: ComponentContext {
    /// The path of the folder, which is never removed by the host.
    var folder: String { get }
}

/// The context of a role that may use the host's HTTP, as `context.http` of `BackplaneNetwork`.
public protocol MayUseNetwork: ComponentContext {}
