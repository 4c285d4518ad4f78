/// The state of one component, type-erased.
struct InstanceState: Sendable {
    let export: @Sendable (_ version: Int) async throws -> [UInt8]
    let `import`: @Sendable (_ bytes: [UInt8], _ version: Int) async throws -> Void

    init<C: Component>(of component: C, _ coding: _StateCoding<C>) {
        export = { try await coding.export(component, $0) }
        `import` = { try await coding.import(component, $0, $1) }
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

    private func requireState() throws(BackplaneError) -> InstanceState {
        guard let state else { throw BackplaneError(.callUnimplemented, "the component has no state") }
        return state
    }
}
