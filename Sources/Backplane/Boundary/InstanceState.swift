/// The state of one component, type-erased.
struct InstanceState: Sendable {
    let export: @Sendable (_ version: Int) async throws -> [UInt8]
    let `import`: @Sendable (_ bytes: [UInt8], _ version: Int) async throws -> Void
    let exportValue: @Sendable () async throws -> ForeignPointer
    let importValue: @Sendable (UnsafeRawPointer) -> @Sendable () async throws -> Void

    init<C: Component>(of component: C, _ coding: _StateCoding<C>) {
        export = { try await coding.export(component, $0) }
        `import` = { try await coding.import(component, $0, $1) }
        exportValue = { try await coding.exportValue(component) }
        importValue = { coding.importValue(component, $0) }
    }
}

extension Instance {
    func exportState(_ version: UInt32) async throws -> [UInt8] {
        try await requireState().export(Int(version))
    }

    /// Imports a state that another instance exported.
    ///
    /// - Returns: An empty array, the payload of the answer.
    func importState(_ bytes: [UInt8], _ version: UInt32) async throws -> [UInt8] {
        try await requireState().import(bytes, Int(version))
        return []
    }

    /// Exports the state as a Swift value in its own memory.
    func exportValue() async throws -> ForeignPointer { try await requireState().exportValue() }

    /// Copies a Swift value that another instance exported, and returns a function that imports it.
    func importingValue(_ value: UnsafeRawPointer) -> @Sendable () async throws -> [UInt8] {
        guard let take = state?.importValue(value) else {
            return { [self] in
                _ = try requireState()
                return []
            }
        }
        return {
            try await take()
            return []
        }
    }

    private func requireState() throws(BackplaneError) -> InstanceState {
        guard let state else { throw BackplaneError(.callUnimplemented, "the component has no state") }
        return state
    }
}
