/// A final class or an actor that a plugin provides in one of four roles.
///
/// The roles are ``Manager``, ``DataAccessController``, ``CommunicationController`` and ``NetworkService``. The types
/// of a component declare everything that it needs, so that a manifest can be checked without creating an instance.
///
/// An instance is created by `init`, activated, called, and finally stopped. In a swap the old instance is suspended.
/// If the swap succeeds, the old instance is released without a `stop`, because its work continues in the new instance.
/// If the swap fails, the old instance is resumed. To carry state over, a component adopts ``StatefulComponent``.
public protocol Component: AnyObject, Sendable {
    /// The contract through which others call the component.
    associatedtype Provides: Contract = NoContract
    /// The type that the manifest's configuration is decoded into.
    ///
    /// It must be a named type.
    associatedtype Configuration: Decodable & Sendable = NoConfiguration
    /// The component's collaborators.
    associatedtype Wires: Wiring = NoWires
    /// The context of the component's role.
    ///
    /// It is determined by the role; components only use it, as `Context`.
    associatedtype Context: ComponentContext
    /// The table in which the component's methods are registered.
    typealias Methods = MethodTable<Self>

    /// The name of the class in manifests. Default: the type's name.
    static var className: String { get }
    /// The version of the component. Default: the plugin's version.
    static var version: Version { get }
    /// A Boolean value that indicates whether `activate` acquires resources that two instances cannot share.
    ///
    /// Examples are ports and files. During a swap of an exclusive component, calls wait until the old instance has
    /// released its resources and the new one has acquired them. Default: `false`; no call waits.
    static var isExclusive: Bool { get }
    /// A Boolean value that indicates whether the component is recreated when one of its collaborators is swapped.
    ///
    /// Default: `false`; the component's wires are connected to the new collaborator.
    static var restartOnSwap: Bool { get }
    /// A JSON text about the class, of at most 256 KB, for programs without an instance.
    ///
    /// The contract determines the contents. For example, a class that provides `HTTPRoutes` lists its routes, so that
    /// a host can show routes, and report clashing routes, before anything starts. Default: `nil`.
    static var annotation: String? { get }
    /// The coding of the state that is carried over, for the SDK; `nil` unless this is a ``StatefulComponent``.
    @_documentation(visibility: internal)
    static var _stateCoding: _StateCoding<Self>? { get }
    /// The step that applies another configuration, for the SDK; `nil` unless this is a ``ReconfigurableComponent``.
    @_documentation(visibility: internal)
    static var _reconfiguration: _Reconfiguration<Self>? { get }

    /// Creates the component from its role's context, which contains its configuration and its wires.
    ///
    /// The initialiser must not acquire exclusive resources, because the old and the new instance exist together during
    /// a swap.
    init(_ context: Context) async throws
    /// Acquires exclusive resources, such as ports and files. Default: does nothing.
    func activate() async throws
    /// Releases exclusive resources and stops changing state. Default: does nothing.
    ///
    /// Calls in flight have ended. Synchronous methods may still be called, and must not change the exported state.
    /// Work in `context.tasks` continues unless this function ends it. It is cancelled when the component is released.
    func suspend() async throws
    /// Acquires exclusive resources again after a `suspend`. Default: calls `activate`.
    func resume() async throws
    /// Ends the component's work. Default: calls `suspend`.
    func stop() async
    /// Checks that the component is healthy; throws an error if it is not.
    ///
    /// By default, a component is always healthy.
    ///
    /// If a new generation on probation is not healthy, the old one replaces it. The function may be called at any time
    /// after `activate`, including during calls and steps.
    func health() async throws
    /// Registers a body for every member of `Provides`.
    ///
    /// A default implementation exists only for components without a contract.
    static func methods(_ table: inout Methods)
}

extension Component {
    /// The type's name.
    public static var className: String { typeName(of: Self.self) }
    /// The version of the plugin.
    public static var version: Version { .ofPlugin }
    /// The default, `false`: two instances can be active at the same time.
    public static var isExclusive: Bool { false }
    /// The default, `false`: the component's wires are connected to the new collaborator.
    public static var restartOnSwap: Bool { false }
    /// The default, `nil`: no text about the class.
    public static var annotation: String? { nil }
    /// The default, `nil`: no state is carried over.
    @_documentation(visibility: internal)
    public static var _stateCoding: _StateCoding<Self>? { nil }
    /// The default, `nil`: the component is recreated for another configuration.
    @_documentation(visibility: internal)
    public static var _reconfiguration: _Reconfiguration<Self>? { nil }
    /// Does nothing, by default.
    public func activate() async throws {}
    /// Does nothing, by default.
    public func suspend() async throws {}
    /// Calls `activate`, by default.
    public func resume() async throws { try await activate() }
    /// Calls `suspend` and ignores its errors, by default.
    public func stop() async { try? await suspend() }
    /// Reports that the component is healthy, by default.
    public func health() async throws {}
}

extension Component where Provides == NoContract {
    /// Registers nothing, by default, for a component without a contract.
    public static func methods(_ table: inout Methods) {}
}

extension Version {
    /// A placeholder for the version of the component's plugin.
    static let ofPlugin = Version(-1)
}

/// The configuration of a component that has none.
public struct NoConfiguration: Decodable, Sendable {
    /// Creates the empty configuration.
    public init() {}
    /// Accepts any value and ignores it.
    public init(from decoder: any Decoder) {}
}

/// A component that contains business logic: it gathers and changes data for its callers.
public protocol Manager: Component where Context == ManagerContext<Self> {}

/// A component that stores data for its manager: the only role with a store.
public protocol DataAccessController: Component where Context == DataAccessContext<Self>, Wires == NoWires {}

/// A component that carries out a manager's requests through the network services it owns.
public protocol CommunicationController: Component where Context == CommunicationContext<Self> {}

/// A component that communicates with a single endpoint.
public protocol NetworkService: Component where Context == NetworkServiceContext<Self>, Wires == NoWires {}

/// A component that accepts another configuration while it runs, instead of being recreated for it.
///
/// ```swift
/// actor PriceBoard: Manager, ReconfigurableComponent {
///     struct Configuration: Decodable { var currency: String }
///     private var currency: String
///
///     init(_ context: Context) { currency = context.configuration.currency }
///
///     func reconfigure(_ configuration: Configuration) throws {
///         guard known.contains(configuration.currency) else { throw UnknownCurrency() }
///         currency = configuration.currency
///     }
///     …
/// }
/// ```
///
/// The protocol is adopted where the class is declared, or in the same module.
public protocol ReconfigurableComponent: Component {
    /// Applies another configuration, or throws and continues with the current one.
    ///
    /// The function is a step: it overlaps no other step, but calls and timers' bodies may run at the same time. If it
    /// throws, the manifest is not applied, and the error is reported. If another component refuses its configuration
    /// in the same change, a component that has applied its new configuration receives the old one again.
    /// `context.configuration` remains the configuration with which the component was created.
    func reconfigure(_ configuration: Configuration) async throws
}

extension ReconfigurableComponent {
    /// The step that applies another configuration, for the SDK.
    @_documentation(visibility: internal)
    public static var _reconfiguration: _Reconfiguration<Self>? {
        _Reconfiguration { component, configuration in
            let configuration = try KnownAndUnknown<Configuration>(configuration: configuration)
            try await component.reconfigure(configuration.value)
            return configuration.unknownKeys
        }
    }
}

/// The step that applies another configuration to a ``ReconfigurableComponent``.
///
/// Only the SDK creates it.
@_documentation(visibility: internal)
public struct _Reconfiguration<C>: Sendable {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance.
    /// The function that decodes a configuration, passes it to the component, and returns the keys unknown to its type.
    let run: @Sendable (C, _ configuration: [UInt8]) async throws -> [String]
}
