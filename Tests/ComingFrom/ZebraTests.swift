import Backplane
import BackplaneHost
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

/// Zebra's README: services that are registered by the application, and resolved by class or protocol. Its screens are
/// the application of docs/screens.md, which `ScreensPageTests` compiles and tests.
@Suite(.timeLimit(.minutes(1)))
struct `Zebra's README` {
    protocol Greeting: Sendable { func greet(_ name: String) -> String }
    struct Greeter: Greeting {
        func greet(_ name: String) -> String { "Hello, \(name)" }
    }
    class Store: @unchecked Sendable {}  // nothing in it changes
    final class UserStore: Store, @unchecked Sendable {}  // nothing in it changes
    struct Unknown: Sendable {}

    @Test func `a service is registered, and resolved by its class, a superclass or a protocol`() throws {
        let app = PluginHost(manifest: Manifest(managers: [:])), store = UserStore()
        app.services.register(Greeter())
        app.services.register(store)
        #expect(try app.services.resolve(Greeter.self).greet("Ann") == "Hello, Ann")
        #expect(try app.services.resolve((any Greeting).self).greet("Bob") == "Hello, Bob")
        #expect(try app.services.resolve(Store.self) === store)
        let error = #expect(throws: BackplaneError.self) { try app.services.resolve(Unknown.self) }
        #expect(error?.code == .unknownService)
    }

    @Test func `the service of a plugin is resolved by its contract`() async throws {
        let test = try TestHost(managers: #""First": {"className": "ChallengeManager"}"#, from: .linked)
        _ = try await test.host.manager("First", as: Challenge.self)
        let found = try await test.host.resolve(Challenge.self)
        #expect(try await found.surroundings() == Surroundings())
        await test.host.stop()
    }
}
