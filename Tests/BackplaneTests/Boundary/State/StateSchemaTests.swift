import Testing

@testable import Backplane
@testable import BackplaneHost

/// What a component says of itself for swaps, and what the host reads of it.
struct StateSchemaTests {
    @Test func `a component is described with its traits and its state`() throws {
        let description = try ComponentClass.registered(ActorTally.self).description
        #expect(description.isExclusive && description.restartsOnSwap)
        #expect(description.state == StateDescription(schema: "Tally", version: 1, accepts: 1...1, writes: 1...1))
        #expect(
            try ComponentClass.registered(NewTally.self).description.state
                == StateDescription(schema: "Tally", version: 3, accepts: 0...3, writes: 1...3))
    }

    @Test func `one that says nothing has neither`() throws {
        let description = try ComponentClass.registered(Stateless.self).description
        #expect(!description.isExclusive && !description.restartsOnSwap)
        #expect(description.state == nil)
    }

    @Test func `state is found where only a component is known, and under another name`() throws {
        func add<C: Component>(_ type: C.Type, to registrar: inout Registrar) where C.Context.Owner == C {
            registrar.add(type, named: "Other")
        }
        var registrar = Registrar(services: HostServices { _, _ in nil }, pluginVersion: "1.0.0")
        add(Tally.self, to: &registrar)
        #expect(registrar.records.map(\.description.className) == ["Other"])
        #expect(registrar.records[0].description.state?.schema == "Tally")
    }

    @Test(arguments: [
        (StateSchema(name: "s", version: 2, accepts: 3...4), "accepts 3 to 4, but not its own version 2"),
        (StateSchema(name: "s", version: 2, accepts: 0...1), "accepts 0 to 1, but not its own version 2"),
        (
            StateSchema(name: "s", version: 2, writes: 3),
            "declares 3 as the oldest version it writes, which is later than its own version 2"
        ),
        (StateSchema(name: "s", version: -1), "has a version -1, expected 0 to 4294967295"),
        (StateSchema(name: "s", version: 0, accepts: -2...0), "has a version -2, expected 0 to 4294967295"),
        (
            StateSchema(name: "s", version: 1, writes: .min),
            "has a version -9223372036854775808, expected 0 to 4294967295"
        ),
        (StateSchema(name: "s", version: 4_294_967_296), "has a version 4294967296, expected 0 to 4294967295"),
        (
            StateSchema(name: "s", version: 1, accepts: 1...Int.max),
            "has a version 9223372036854775807, expected 0 to 4294967295"
        ),
    ])
    func `versions that do not fit together are a problem of the plugin`(schema: StateSchema, says: String) {
        let error = #expect(throws: BackplaneError.self) { try schema.description(of: "Odd") }
        #expect(error == BackplaneError(.pluginInvalidAnswer, "Odd: the schema `s` of its state \(says)"))
    }

    final class Odd: Manager, StatefulComponent {
        struct State: Codable {}
        static let stateSchema = StateSchema(version: 2, accepts: 0...1)
        init(_ context: Context) {}
        func exportState() -> State { State() }
        func importState(_ state: State) {}
    }
}
