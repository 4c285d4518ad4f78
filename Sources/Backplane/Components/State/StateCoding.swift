/// The ways in which the state of a ``StatefulComponent`` crosses: as bytes, and as a Swift value.
///
/// Only the SDK creates it.
@_documentation(visibility: internal)
public struct _StateCoding<C>: Sendable {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance.
    let schema: StateSchema
    /// The function that exports the state in a version that the schema writes.
    let export: @Sendable (C, _ version: Int) async throws -> [UInt8]
    /// The function that imports a state in a version that the schema accepts.
    let `import`: @Sendable (C, _ bytes: [UInt8], _ version: Int) async throws -> Void
    /// Exports the state as a Swift value in its own memory, which `native` releases.
    let exportValue: @Sendable (C) async throws -> ForeignPointer
    /// Copies a value that another instance exported, before anything else, and returns a function that imports it.
    let importValue: @Sendable (C, UnsafeRawPointer) -> @Sendable () async throws -> Void
    let native: NativeState
}

extension _StateCoding where C: StatefulComponent {
    init(of _: C.Type) {
        schema = C.stateSchema
        export = { component, version in
            try C.requireVersion(version, writable: true)
            return try C.encode(try await component.exportState(), version: version)
        }
        `import` = { component, bytes, version in
            try C.requireVersion(version, writable: false)
            try await component.importState(try C.decode(bytes, version: version))
        }
        exportValue = { ForeignPointer(raw: UnsafeMutableRawPointer(keeping: try await $0.exportState())) }
        importValue = { component, value in
            // Written by another library, whose type is proven to be laid out as this one.
            let state = value.assumingMemoryBound(to: C.State.self).pointee
            return { try await component.importState(state) }
        }
        native = NativeState(of: C.State.self)
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

    /// Returns the same error with a hint appended to the message.
    fileprivate func followed(by hint: String) -> BackplaneError {
        var copy = self
        copy.message = "\(message); \(hint)"
        return copy
    }
}

extension StateSchema {
    /// The advice for code whose state differs in form from the exported one: the lines to write.
    ///
    /// It is one line, because errors are printed as lines.
    fileprivate var migrationHint: String {
        let next = version + 1, named = name.map { "name: \"\($0)\", " } ?? ""
        return "if the form of the state has changed, raise `version` and write `migrateUp`: "
            + "`static let stateSchema = StateSchema(\(named)version: \(next), accepts: \(accepts.lowerBound)...\(next))` and "
            + "`static func migrateUp(_ state: StoredState, from version: Int) throws -> State { let old = try state.decode(OldState.self); return State(…) }`"
    }
}
