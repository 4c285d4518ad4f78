import Backplane
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(5)))
struct ServiceRegistryTests {
    protocol Lamp: Sendable { var watts: Int { get } }
    class Fixture: @unchecked Sendable {}  // nothing in it changes
    final class Lantern: Fixture, Lamp, @unchecked Sendable {  // what it has is constant
        let watts: Int
        init(watts: Int) { self.watts = watts }
    }
    struct Bulb: Lamp, Hashable {
        var watts: Int
    }
    struct Switch: Hashable {}

    private let host = PluginHost(manifest: Manifest(managers: [:]))
    private var services: ServiceRegistry { host.services }

    @Test func `an instance is found by its own type, its superclass and its protocol`() throws {
        let lantern = Lantern(watts: 5)
        services.register(lantern)
        #expect(try services.resolve(Lantern.self) === lantern)
        #expect(try services.resolve(Fixture.self) === lantern)
        #expect(try services.resolve((any Lamp).self).watts == 5)
        let inferred: Lantern = try services.resolve()
        let any: any Lamp = try services.resolve()
        #expect(inferred === lantern && any.watts == 5)
    }

    @Test func `one registered as a protocol is found by its own type`() throws {
        let lamp: any Lamp = Bulb(watts: 40)
        services.register(lamp)
        #expect(try services.resolve(Bulb.self) == Bulb(watts: 40))
    }

    @Test func `the first registered wins, and all come in that order`() throws {
        services.register(Bulb(watts: 40))
        services.register(Lantern(watts: 5))
        services.register(Bulb(watts: 60))
        #expect(try services.resolve(Bulb.self).watts == 40)
        #expect(try services.resolve((any Lamp).self).watts == 40)
        #expect(services.resolveAll((any Lamp).self).map(\.watts) == [40, 5, 60])
        #expect(services.resolveAll(Bulb.self) { $0.watts > 50 } == [Bulb(watts: 60)])
        #expect(services.resolveAll(Switch.self).isEmpty)
    }

    @Test func `a predicate chooses among those of the type`() throws {
        services.register(Bulb(watts: 40))
        services.register(Bulb(watts: 60))
        #expect(try services.resolve(Bulb.self) { $0.watts > 50 } == Bulb(watts: 60))
        let inferred: any Lamp = try services.resolve { $0.watts > 50 }
        #expect(inferred.watts == 60)
    }

    @Test func `a predicate may resolve and register itself`() throws {
        services.register(Switch())
        services.register(Bulb(watts: 40))
        let bulb = try services.resolve(Bulb.self) { _ in
            services.register(Lantern(watts: 5))
            return (try? services.resolve(Switch.self)) != nil
        }
        #expect(bulb.watts == 40)
        #expect(try services.resolve(Lantern.self).watts == 5)
    }

    @Test func `a type that nobody registered is an error that names it and what there is`() async {
        services.register(Bulb(watts: 40))
        services.register(Bulb(watts: 60))
        services.register(Lantern(watts: 5))
        let unknown = await error { try services.resolve(Switch.self) }
        #expect(unknown?.code == .unknownService)
        #expect(
            unknown?.message == """
                no `BackplaneHostTests.ServiceRegistryTests.Switch` is registered; registered: `BackplaneHostTests.ServiceRegistryTests.Bulb`, \
                `BackplaneHostTests.ServiceRegistryTests.Lantern`; register one with `services.register` before it is requested
                """)
    }

    @Test func `an empty registry says that it is empty`() async {
        let unknown = await error { try services.resolve((any Lamp).self) }
        #expect(unknown?.code == .unknownService)
        #expect(
            unknown?.message == """
                no `BackplaneHostTests.ServiceRegistryTests.Lamp` is registered; registered: nothing; register one with `services.register` before it is requested
                """)
    }

    @Test(arguments: [
        (1, "the registered `BackplaneHostTests.ServiceRegistryTests.Bulb` does not match"),
        (3, "none of the 3 registered `BackplaneHostTests.ServiceRegistryTests.Bulb` matches"),
    ])
    func `instances that the predicate does not take are told from none at all`(count: Int, words: String) async {
        for watts in 0..<count { services.register(Bulb(watts: watts)) }
        let unknown = await error { try services.resolve(Bulb.self) { $0.watts > 50 } }
        #expect(unknown?.code == .unknownService)
        #expect(unknown?.message == "\(words) the predicate; register one that does, or relax the predicate")
    }

    @Test func `a private type is named as people write it`() async {
        struct Hidden: Sendable {}
        services.register(Hidden())
        let unknown = await error { try services.resolve(Switch.self) }
        #expect(
            unknown?.message.contains("registered: `BackplaneHostTests.ServiceRegistryTests.Hidden`;") == true,
            "\(unknown?.message ?? "")")
    }

    @Test func `instances answer after the host has stopped, and are released with it`() async throws {
        var host: PluginHost? = PluginHost(manifest: Manifest(managers: [:]))
        weak var kept: Lantern?
        do {
            let lantern = Lantern(watts: 5)
            kept = lantern
            host?.services.register(lantern)
        }
        await host?.stop()
        #expect(try host?.services.resolve(Lantern.self).watts == 5)
        host = nil
        await eventually { kept == nil }
    }

    @Test func `racing callers lose nothing`() async throws {
        let services = services
        await withTaskGroup(of: Void.self) { group in
            for watts in 0..<200 {
                group.addTask { @concurrent in
                    services.register(Bulb(watts: watts))
                    #expect((try? services.resolve(Bulb.self) { $0.watts == watts }) != nil)
                }
            }
        }
        #expect(Set(services.resolveAll(Bulb.self)).count == 200)
    }
}
