@testable import Backplane
@testable import BackplaneHost

extension ComponentClass {
    /// A class as a host gets to know it.
    static func registered<C: Component>(_: C.Type) throws -> ComponentClass where C.Context.Owner == C {
        let plugin = try PluginDescription(id: "org.example.state", version: "1.0.0", getInterface: { _, _ in nil }) {
            registrar in
            registrar.add(C.self)
        }
        return plugin.components[0]
    }

    func make() async throws -> ComponentInstance {
        let creation = OfferedCreation(
            number: 1, handle: 1, configuration: Array("{}".utf8), folder: "", resources: "", connections: [])
        return try await create(creation, { _ in }) { body in
            body()
            return true
        }
    }
}

/// Steps that are waited for without limit, and state as text.
extension ComponentInstance {
    static func of<C: Component>(_: C.Type) async throws -> ComponentInstance where C.Context.Owner == C {
        try await ComponentClass.registered(C.self).make()
    }

    func suspend() async throws(BackplaneError) { try await suspend({ _ in }) }
    func checkHealth() async throws(BackplaneError) { try await checkHealth({ _ in }) }

    func exportText(version: UInt32 = 1) async throws(BackplaneError) -> String {
        String(decoding: try await exportState(version: version, { _ in }), as: UTF8.self)
    }

    func importText(_ text: String, version: UInt32 = 1) async throws(BackplaneError) {
        try await importState(Array(text.utf8), version: version, { _ in })
    }

    /// Calls a method natively, as a wire does.
    func wire<C: Contract>(_: C.Type) -> Wire<C> {
        let slot = Slot(number: 0, gatekeeper: NoEntry())
        if let nativeCells { slot.flip(to: Binding(nativeCells, counting: .atomic)) }
        return Wire(slot)
    }
}

/// The error that `body` throws; `nil`: none.
func failure(_ body: () async throws -> Void) async -> BackplaneError? {
    do { try await body() } catch { return BackplaneError(thrown: error) }
    return nil
}
