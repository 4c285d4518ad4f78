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
/// The state crosses as a Swift value if the old and the new code have the same layout for it, and otherwise as JSON.
/// The protocol is adopted where the class is declared, or in the same module.
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

    static var schemaName: String { stateSchema.name ?? className }
}

/// The name of a component's state, and the versions in which it is read and written.
///
/// A swap carries state over if both sides use the same name for it and the new code accepts the version that the old
/// code writes. A rollback asks the newer code for a version that the older code accepts.
public struct StateSchema: Sendable, Equatable {
    /// The name of the state; `nil` means the name of the class.
    public var name: String?
    /// The version of the exported state, from 0 to 4,294,967,295.
    ///
    /// Increase it when the form of the state changes.
    public var version: Int
    /// The versions that are accepted, including `version`.
    ///
    /// Versions other than `version` go through `migrateUp`.
    public var accepts: ClosedRange<Int>
    /// The oldest version that `migrateDown` writes; `version` itself if there is no downward migration.
    public var writes: Int

    /// Creates a schema, by default of version 1 without any migration.
    ///
    /// - Parameters:
    ///   - name: The name of the state; `nil` means the name of the class.
    ///   - version: The version of the exported state.
    ///   - accepts: The versions that are accepted; `nil` means only `version`.
    ///   - writes: The oldest version that can be written; `nil` means only `version`.
    public init(name: String? = nil, version: Int = 1, accepts: ClosedRange<Int>? = nil, writes: Int? = nil) {
        (self.name, self.version) = (name, version)
        self.accepts = accepts ?? version...version
        self.writes = writes ?? version
    }
}

extension StateSchema {
    /// Returns the checked description of the schema.
    ///
    /// - Throws: `plugin.invalid-answer` for versions that contradict each other.
    func description(of className: String) throws(BackplaneError) -> StateDescription {
        let name = name ?? className
        func problem(_ text: String) -> BackplaneError {
            BackplaneError(.pluginInvalidAnswer, "\(className): the schema `\(name)` of its state \(text)")
        }
        guard !name.isEmpty else {
            throw BackplaneError(.pluginInvalidAnswer, "\(className): the schema of its state has an empty name")
        }
        for number in [version, accepts.lowerBound, accepts.upperBound, writes] where UInt32(exactly: number) == nil {
            throw problem("has a version \(number), expected 0 to \(UInt32.max)")
        }
        guard accepts.contains(version) else {
            throw problem("accepts \(accepts.words), but not its own version \(version)")
        }
        guard writes <= version else {
            throw problem(
                "declares \(writes) as the oldest version it writes, which is later than its own version \(version)")
        }
        return StateDescription(
            schema: name, version: UInt32(version), accepts: UInt32(accepts.lowerBound)...UInt32(accepts.upperBound),
            writes: UInt32(writes)...UInt32(version))
    }
}

extension ClosedRange where Bound: BinaryInteger {
    /// The range as text: `2`, or `1 to 3`.
    package var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}

/// A state of another version, which a migration decodes as the type of that version.
public struct StoredState: Sendable {
    /// The state in JSON.
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a state as other code would have exported it, to test a migration.
    ///
    /// - Throws: `state.incompatible` for a value that cannot be encoded.
    public init(encoding state: some Encodable) throws(BackplaneError) {
        bytes = try JSON.encode(state, failing: .stateIncompatible)
    }

    /// Decodes the state as the type from which it was exported.
    ///
    /// - Throws: `state.incompatible`, located at the value that does not match.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(BackplaneError) -> Value {
        try JSON.decode(type, bytes, failing: .stateIncompatible)
    }
}

/// The ways in which the state of a ``StatefulComponent`` crosses: as bytes, and as a Swift value.
///
/// Only the SDK creates it.
@_documentation(visibility: internal)
public struct _StateCoding<C>: Sendable {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance.
    let schema: StateSchema
    let state: @Sendable (C) -> InstanceState
    let native: NativeState
}

/// The state of one component, type-erased.
struct InstanceState: Sendable {
    /// Exports the state in a version that the schema writes.
    let export: @Sendable (_ version: Int) async throws -> [UInt8]
    /// Imports a state in a version that the schema accepts.
    let `import`: @Sendable (_ bytes: [UInt8], _ version: Int) async throws -> Void
    /// Exports the state as a Swift value in its own memory, which ``NativeState`` releases.
    let exportValue: @Sendable () async throws -> ForeignPointer
    /// Copies a value that another instance exported, before anything else, and returns a function that imports it.
    let importValue: @Sendable (UnsafeRawPointer) -> @Sendable () async throws -> Void
}

extension _StateCoding where C: StatefulComponent {
    init(of _: C.Type) {
        (schema, native) = (C.stateSchema, NativeState(of: C.State.self))
        state = { component in
            InstanceState(
                export: { version in
                    try C.requireVersion(version, writable: true)
                    return try C.encode(try await component.exportState(), version: version)
                },
                import: { bytes, version in
                    try C.requireVersion(version, writable: false)
                    try await component.importState(try C.decode(bytes, version: version))
                },
                exportValue: {
                    ForeignPointer(raw: UnsafeMutableRawPointer(keeping: try await component.exportState()))
                },
                importValue: { value in
                    // Written by another library, whose type has been proven to have the same layout.
                    let state = value.assumingMemoryBound(to: C.State.self).pointee
                    return { try await component.importState(state) }
                })
        }
    }
}

extension StatefulComponent {
    fileprivate static func requireVersion(_ version: Int, writable: Bool) throws(BackplaneError) {
        let schema = stateSchema, versions = writable ? schema.writes...schema.version : schema.accepts
        guard !versions.contains(version) else { return }
        throw BackplaneError(
            .stateIncompatible,
            "\(className) was asked to \(writable ? "write" : "read") its state `\(schemaName)` in version \(version), but it \(writable ? "writes" : "accepts") \(versions.words)"
        )
    }

    fileprivate static func encode(_ state: State, version: Int) throws -> [UInt8] {
        let value: any Encodable = version == stateSchema.version ? state : try migrateDown(state, version)
        do throws(BackplaneError) { return try JSON.encodeSorted(value, failing: .stateIncompatible) } catch {
            throw error.of("\(className): its state `\(schemaName)` \(version) cannot be written as JSON")
        }
    }

    private static func migrateDown(_ state: State, _ version: Int) throws(BackplaneError) -> any Encodable {
        do { return try migrateDown(state, to: version) } catch {
            throw BackplaneError(thrown: error).of(
                "\(className): its state `\(schemaName)` \(stateSchema.version) cannot be migrated to \(version)")
        }
    }

    fileprivate static func decode(_ bytes: [UInt8], version: Int) throws -> State {
        let stored = StoredState(bytes)
        guard version == stateSchema.version else {
            do { return try migrateUp(stored, from: version) } catch {
                throw BackplaneError(thrown: error).of(
                    "\(className): a state `\(schemaName)` \(version) cannot be migrated to \(stateSchema.version)")
            }
        }
        do throws(BackplaneError) { return try stored.decode(State.self) } catch {
            throw error.of("\(className): the data received as its state `\(schemaName)` \(version) cannot be decoded")
                .followed(by: stateSchema.migrationHint)
        }
    }
}

extension BackplaneError {
    /// Returns the same error with its subject prepended to the message.
    fileprivate func of(_ subject: String) -> BackplaneError {
        var copy = self
        copy.message = "\(subject): \(message)"
        return copy
    }

    fileprivate func followed(by hint: String) -> BackplaneError {
        var copy = self
        copy.message = "\(message); \(hint)"
        return copy
    }
}

extension StateSchema {
    /// The advice for code whose state has another form than the exported state: the code to write.
    ///
    /// It is a single line, because errors are printed as lines.
    fileprivate var migrationHint: String {
        let next = version + 1, named = name.map { "name: \"\($0)\", " } ?? ""
        return "if the form of the state has changed, raise `version` and write `migrateUp`: "
            + "`static let stateSchema = StateSchema(\(named)version: \(next), accepts: \(accepts.lowerBound)...\(next))` and "
            + "`static func migrateUp(_ state: StoredState, from version: Int) throws -> State { let old = try state.decode(OldState.self); return State(…) }`"
    }
}
