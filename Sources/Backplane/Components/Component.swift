/// A final class or an actor that a plugin brings: one of the four roles, ``Manager``, ``DataAccessController``,
/// ``CommunicationController`` or ``NetworkService``.
///
/// Everything it needs is declared by its types, so that a manifest can be checked without making an instance.
/// Its life: `init`, `activate`, then calls, at last `stop`. In a swap the old one is suspended and, once the new one has proved
/// itself, given up without a `stop`, since its work goes on; if the new one fails, the old one is resumed. What is to be carried over
/// is the business of a ``StatefulComponent``.
public protocol Component: AnyObject, Sendable {
    /// What others may ask of it.
    associatedtype Provides: Contract = NoContract
    /// What the manifest's configuration is decoded into. Must be a named type.
    associatedtype Configuration: Decodable & Sendable = NoConfiguration
    /// Its collaborators.
    associatedtype Wires: Wiring = NoWires
    /// What its role may use. Decided by adopting a role; never named in a component, only used as `Context`.
    associatedtype Context: ComponentContext
    typealias Methods = MethodTable<Self>

    /// What the manifest calls it. Default: the type's name.
    static var className: String { get }
    /// Default: the plugin's version.
    static var version: Version { get }
    /// Does `activate` take what no two can have: ports, files, timers? Then calls wait in a swap, until the old one has given it up and
    /// the new one taken it. Default: no, and nobody waits.
    static var isExclusive: Bool { get }
    /// Is it made anew when something that it calls by a wire is swapped? Default: no, its wires lead to what is in force.
    static var restartOnSwap: Bool { get }
    /// For the SDK: how state is carried over. `nil` for every component but a ``StatefulComponent``.
    @_documentation(visibility: internal)
    static var _stateCoding: _StateCoding<Self>? { get }

    /// Makes it. Takes nothing exclusive, since during a swap the old and the new one exist together.
    init(_ context: Context) async throws
    /// Takes what is exclusive: ports, files, timers. Default: nothing.
    func activate() async throws
    /// Gives that up and leaves its state still. Default: nothing.
    ///
    /// Calls that were under way have ended. Synchronous methods may still be called, and must not change what is exported. Work in
    /// `context.tasks` goes on, unless this ends it; it is cancelled when the component is given up.
    func suspend() async throws
    /// Takes it again after a `suspend`. Default: `activate`.
    func resume() async throws
    /// The end. Default: `suspend`.
    func stop() async
    /// Throws when it is not well: a new generation on probation is then given up for the old one. Default: it is well.
    ///
    /// May be asked at any time after `activate`, also while calls or other steps are under way.
    func health() async throws
    /// Gives every member of `Provides` its body. Has a default only where nothing is provided.
    static func methods(_ table: inout Methods)
}

extension Component {
    public static var className: String { typeName(of: Self.self) }
    public static var version: Version { .ofPlugin }
    public static var isExclusive: Bool { false }
    public static var restartOnSwap: Bool { false }
    @_documentation(visibility: internal)
    public static var _stateCoding: _StateCoding<Self>? { nil }
    public func activate() async throws {}
    public func suspend() async throws {}
    public func resume() async throws { try await activate() }
    public func stop() async { try? await suspend() }
    public func health() async throws {}
}

extension Component where Provides == NoContract {
    public static func methods(_ table: inout Methods) {}
}

extension Version {
    /// Stands for the version of the plugin that brings the component.
    static let ofPlugin = Version(-1)
}

/// The configuration of a component that takes none.
public struct NoConfiguration: Decodable, Sendable {
    public init() {}
    public init(from decoder: any Decoder) {}
}

/// Business logic: gathers and changes data for whoever presents it.
public protocol Manager: Component where Context == ManagerContext<Self> {}

/// Keeps data for its manager: the only role with a folder of its own.
public protocol DataAccessController: Component where Context == DataAccessContext<Self>, Wires == NoWires {}

/// Carries out a manager's requests through the network services it owns.
public protocol CommunicationController: Component where Context == CommunicationContext<Self> {}

/// Speaks to one endpoint.
public protocol NetworkService: Component where Context == NetworkServiceContext<Self>, Wires == NoWires {}
