/// A component whose state is carried over by a swap from the old code to the new.
///
/// ```swift
/// actor WordCount: Manager, StatefulComponent {
///     struct State: Codable { var counts: [String: Int] }
///     private var counts: [String: Int] = [:]
///
///     func exportState() -> State { State(counts: counts) }
///     func importState(_ state: State) { counts = state.counts }
///     …
/// }
/// ```
///
/// The state crosses as a Swift value if the old and the new code lay it out alike, and otherwise as JSON. The protocol
/// is adopted where the class is declared, or in the same module.
public protocol StatefulComponent: Component {
    /// The data that survives a swap of the code.
    associatedtype State: Codable & Sendable
    /// The name of the state and its versions. Default: the class's name, version 1.
    static var stateSchema: StateSchema { get }
    /// Returns the state without changing it.
    ///
    /// Called after `suspend` or after an import, possibly more than once.
    func exportState() async throws -> State
    /// Adopts the state that another instance exported.
    ///
    /// Called after `init` and before `activate`; a host that verifies the import may call it again.
    func importState(_ state: State) async throws
    /// Converts a state from another version that `stateSchema` accepts. Default: throws `state.incompatible`.
    static func migrateUp(_ state: StoredState, from version: Int) throws -> State
    /// Converts a state to an older version that `stateSchema` writes. Default: throws `state.incompatible`.
    ///
    /// A rollback needs this: it provides the older code with a state that it can read.
    static func migrateDown(_ state: State, to version: Int) throws -> any Encodable
}

extension StatefulComponent {
    /// The schema named after the class, in version 1.
    public static var stateSchema: StateSchema { StateSchema() }

    /// The default implementation, which throws `state.incompatible` because there is no migration.
    public static func migrateUp(_ state: StoredState, from version: Int) throws -> State {
        throw BackplaneError(
            .stateIncompatible,
            "\(className) accepts its state `\(schemaName)` in version \(version), but has no `migrateUp(_:from:)` that converts it to its own version \(stateSchema.version)"
        )
    }

    /// The default implementation, which throws `state.incompatible` because there is no migration.
    public static func migrateDown(_ state: State, to version: Int) throws -> any Encodable {
        throw BackplaneError(
            .stateIncompatible,
            "\(className) declares that it writes its state `\(schemaName)` in version \(version), but has no `migrateDown(_:to:)` that converts it from its own version \(stateSchema.version)"
        )
    }

    /// The coding of the state, for the SDK.
    @_documentation(visibility: internal)
    public static var _stateCoding: _StateCoding<Self>? { _StateCoding(of: Self.self) }

    /// The name of the state's schema.
    static var schemaName: String { stateSchema.name ?? className }
}
