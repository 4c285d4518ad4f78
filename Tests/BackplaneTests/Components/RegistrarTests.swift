import Testing

@testable import Backplane

@Suite struct RegistrarTests {
    struct Greetings: Contract {
        static let version: Version = "1.0.0"
        let greet = AsyncMethod<String, String>()
        let count = SyncMethod<Nothing, Int>()
    }
    final class Complete: Manager {
        typealias Provides = Greetings
        static let version: Version = "3.0.0"
        struct Wires: Wiring {
            let dataAccessController: Wire<Greetings>
            let clock: Wire<Greetings>?
        }
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) {
            table.async(\.greet) { _, name, _ in "Hello, \(name)!" }
            table.sync(\.count) { _, _, _ in 0 }
        }
    }
    final class MissingMethod: Manager {
        typealias Provides = Greetings
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) {
            table.async(\.greet) { _, name, _ in name }
        }
    }
    final class InvalidWiring: Manager {
        struct Wires: Wiring {
            let clock: Wire<Greetings>
            let limit: Int
        }
        init(_ context: Context) {}
    }
    final class Quiet: NetworkService {
        static let className = "Silence"
        init(_ context: Context) {}
    }

    private func registrar() -> Registrar {
        Registrar(services: HostServices { _, _ in nil }, pluginVersion: "1.5.0")
    }

    @Test func `a component is described by its types alone`() throws {
        var registrar = registrar()
        registrar.add(Complete.self)
        #expect(registrar.problems == [])
        let contract = ContractDescription(
            name: "Greetings", version: "1.0.0",
            methods: [
                MethodDescription(name: "greet", kind: .async),
                MethodDescription(name: "count", kind: .sync),
            ])
        #expect(
            registrar.records.map(\.description) == [
                ComponentDescription(
                    role: .manager, className: "Complete", version: "3.0.0", contract: contract,
                    wires: [
                        WireDescription(label: "dataAccessController", contract: contract),
                        WireDescription(label: "clock", isOptional: true, contract: contract),
                    ])
            ])
    }

    @Test func `a component without a version has its plugin's, and without a contract provides nothing`() throws {
        var registrar = registrar()
        registrar.add(Quiet.self)
        #expect(registrar.problems == [])
        #expect(
            registrar.records.map(\.description) == [
                ComponentDescription(role: .networkService, className: "Silence", version: "1.5.0")
            ])
    }

    @Test func `a method without a body is a problem that names it`() {
        var registrar = registrar()
        registrar.add(MissingMethod.self)
        #expect(registrar.problems == ["MissingMethod provides Greetings but does not implement `count`"])
    }

    @Test func `a wiring with something else in it is a problem that names it`() {
        var registrar = registrar()
        registrar.add(InvalidWiring.self)
        #expect(registrar.problems.count == 1)
        #expect(
            registrar.problems.first?.contains("`limit` is not a Wire; a Wiring cannot have other properties") == true)
    }
}
