import Glibc

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

/// The content of a context: a component's configuration and wires, type-erased, its folder and the host's services.
///
/// Contexts do not require their owner to conform to `Component`, although it always does. If they did, Swift's runtime
/// would search every loaded image for that conformance each time a plugin is loaded.
struct ContextParts: Sendable {
    private let values: (configuration: any Sendable, wires: any Sendable)
    let folder: String
    let services: ComponentServices

    init(configuration: any Sendable, wires: any Sendable, folder: String, services: ComponentServices) {
        (values, self.folder, self.services) = ((configuration, wires), folder, services)
    }

    // Both casts succeed: a `ComponentRecord` creates the parts with `Owner.Configuration` and `Owner.Wires`, and the
    // context of the same `Owner` asks for these types.

    func configuration<Value>() -> Value { values.configuration as! Value }
    func wires<Value>() -> Value { values.wires as! Value }
}

extension ContextParts {
    /// The path of the component's folder, which exists unless the system refuses to create it.
    var createdFolder: String {
        if !folder.isEmpty { makeFolders(folder) }
        return folder
    }

    /// Creates a folder and its missing parents, accessible to this user only.
    private func makeFolders(_ path: String) {
        guard mkdir(path, 0o700) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex
        else { return }
        makeFolders(String(path[..<slash]))
        mkdir(path, 0o700)
    }
}

extension ComponentContext {
    /// Creates the context of a role.
    ///
    /// - Precondition: The context is one of the SDK's four; the roles permit no others.
    static func made(of parts: ContextParts) -> Self {
        let context: any Sendable =
            switch role {
            case .manager: ManagerContext<Owner>(parts: parts)
            case .dataAccessController: DataAccessContext<Owner>(parts: parts)
            case .communicationController: CommunicationContext<Owner>(parts: parts)
            case .networkService: NetworkServiceContext<Owner>(parts: parts)
            }
        // This is the precondition, which each role's protocol states as `Context == …Context<Self>`. The switch uses
        // the role of `Self`, so the context that it creates has the type `Self`.
        return context as! Self
    }
}

/// A manager that serves a contract, as passed to the condition of ``ManagerContext/resolve(_:where:for:)``.
public struct ManagerDescription: Sendable, Equatable {
    /// The manager's name in the manifest.
    public var name: String
    /// The name of the manager's class.
    public var className: String
    /// The version of the manager's class.
    public var version: Version
    /// The id of the plugin that provides the manager.
    public var plugin: String

    package init(name: String, className: String, version: Version, plugin: String) {
        (self.name, self.className, self.version, self.plugin) = (name, className, version, plugin)
    }
}

extension ManagerContext {
    /// Returns a wire to a manager that is not one of the component's own wires.
    ///
    /// The manager is started if necessary. Looking it up again returns the same wire. The function can be called in an
    /// initialiser: managers that look each other up while they start do not deadlock, because one of them receives
    /// `manager.cycle`.
    ///
    /// - Parameters:
    ///   - name: The manager's name in the manifest.
    ///   - type: The contract that the manager serves.
    ///   - call: The call for which the manager is looked up, if any.
    /// - Throws: `manager.unknown`; `wire.mismatch` if the manager provides another contract; `manager.cycle`; the
    ///   error with which the manager failed to start.
    public func manager<C: Contract>(_ name: String, as type: C.Type = C.self, for call: Call? = nil)
        async throws(BackplaneError) -> Wire<C>
    {
        try await services.find(name, C.self, call)
    }

    /// Returns a wire to the first matching manager that serves a contract, ordered by plugin and then by name.
    ///
    /// - Parameters:
    ///   - type: The contract that the manager serves.
    ///   - isWanted: The condition that a manager must meet.
    ///   - call: The call for which the manager is looked up, if any.
    /// - Throws: `manager.unknown` if there is none, and the errors of ``manager(_:as:for:)``.
    public func resolve<C: Contract>(
        _ type: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }, for call: Call? = nil
    ) async throws(BackplaneError) -> Wire<C> {
        let providers = try await services.providers(of: C.self)
        if let provider = providers.first(where: isWanted) {
            return try await manager(provider.name, as: C.self, for: call)
        }
        let names = providers.map { "`\($0.name)`" }.joined(separator: ", ")
        throw BackplaneError(
            .unknownManager,
            "no manager was found that provides \(C.name) \(C.version)"
                + (names.isEmpty ? "" : "; \(names) did not match the predicate"))
    }
}

// Unavailable members, whose messages name the role that has the requested service. BackplaneNetwork and
// BackplaneStorage declare such members for their services. docs/reference/compiler-messages.md has the list.

extension ManagerContext {
    /// Refuses a folder, which a manager does not have.
    @available(*, unavailable, message: "a manager has no folder: call its data access controller through a wire")
    @_documentation(visibility: internal)
    public var folder: String { "" }
}

extension DataAccessContext {
    /// Refuses wires, which a data access controller does not have.
    @available(*, unavailable, message: "a data access controller cannot call components: its manager calls them")
    @_documentation(visibility: internal)
    public var wires: UndeclaredMember { UndeclaredMember() }
}

extension NetworkServiceContext {
    /// Refuses wires, which a network service does not have.
    @available(
        *, unavailable,
        message: "a network service cannot call components: its communication controller calls them"
    )
    @_documentation(visibility: internal)
    public var wires: UndeclaredMember { UndeclaredMember() }
}

// The roles with a folder are all but managers.
extension HasFolder {
    /// Refuses the lookup of a manager.
    @available(*, unavailable, message: "only a manager can look up managers: let its manager call the other one")
    @_documentation(visibility: internal)
    public func manager<C: Contract>(_ name: String, as type: C.Type = C.self, for call: Call? = nil)
        async throws(BackplaneError) -> Wire<C>
    {
        throw BackplaneError(.roleForbidden, "only a manager can look up managers")
    }

    /// Refuses the lookup of a manager.
    @available(*, unavailable, message: "only a manager can look up managers: let its manager call the other one")
    @_documentation(visibility: internal)
    public func resolve<C: Contract>(
        _ type: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }, for call: Call? = nil
    ) async throws(BackplaneError) -> Wire<C> {
        throw BackplaneError(.roleForbidden, "only a manager can look up managers")
    }
}
