/// A component whose state a swap carries over, from the old code to the new.
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
/// The state crosses as JSON. To be adopted where the class is declared, or in the same module.
public protocol StatefulComponent: Component {
    /// What outlives the code.
    associatedtype State: Codable & Sendable
    /// What the state is called, and in which versions. Default: the class's name, version 1.
    static var stateSchema: StateSchema { get }
    /// Gives the state, and changes nothing. Comes after `suspend`, or after an import, perhaps more than once.
    func exportState() async throws -> State
    /// Takes over what another instance exported. Comes after `init` and before `activate`; a host that checks may do it again.
    func importState(_ state: State) async throws
    /// Makes a state of one of another version that `stateSchema` accepts. Default: throws.
    static func migrateUp(_ state: StoredState, from version: Int) throws -> State
    /// Makes of a state what older code reads, of a version that `stateSchema` writes: for the way back. Default: throws.
    static func migrateDown(_ state: State, to version: Int) throws -> any Encodable
}

extension StatefulComponent {
    public static var stateSchema: StateSchema { StateSchema() }

    public static func migrateUp(_ state: StoredState, from version: Int) throws -> State {
        throw BackplaneError(
            .stateIncompatible,
            "\(className) accepts its state `\(schemaName)` in version \(version), has it in version \(stateSchema.version), and has no `migrateUp(_:from:)` that makes one of the other")
    }

    public static func migrateDown(_ state: State, to version: Int) throws -> any Encodable {
        throw BackplaneError(
            .stateIncompatible,
            "\(className) says that it writes its state `\(schemaName)` in version \(version), has it in version \(stateSchema.version), and has no `migrateDown(_:to:)` that makes one of the other")
    }

    @_documentation(visibility: internal)
    public static var _stateCoding: _StateCoding<Self>? { _StateCoding(of: Self.self) }

    /// The name of its state's schema.
    static var schemaName: String { stateSchema.name ?? className }
}
