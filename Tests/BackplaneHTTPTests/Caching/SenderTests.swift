import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// A second plugin with the components of ``LendingPlugin``, under names of its own.
private struct ShelfPlugin: Plugin {
    static let id = "org.backplane.tests.shelf"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LendingManager.self, named: "ShelfManager")
        registrar.add(LendingCommunication.self, named: "ShelfCommunication")
    }
}

/// A dictionary in place of the disk.
private final class DictionaryCache: CacheProvider {
    private let responses = Mutex<[String: CachedResponse]>([:])

    func load(_ key: String) async throws -> CachedResponse? { responses.withLock { $0[key] } }
    func store(_ response: CachedResponse, for key: String) async throws { responses.withLock { $0[key] = response } }
    func removeExpired(_ rule: CacheExpiry) async throws -> Int { 0 }
}

/// Senders of one URL in two plugins, whose host has one cache and shares exchanges in flight.
@Suite(.timeLimit(.minutes(5)))
struct SenderTests {
    /// A sender: an account of the credential, or a field of the requests.
    private enum Sender: String, CaseIterable {
        case ann, bob, carl, dora

        private var isAccount: Bool { self == .ann || self == .bob }

        func endpoint(_ cache: CachePolicy) -> Endpoint<String> {
            var endpoint = Endpoint<String>("GET", "shelf")
            endpoint.options.cache = cache
            if isAccount {
                (endpoint.options.credential, endpoint.options.account) = ("library", rawValue)
            } else {
                endpoint.headers["Authorization"] = rawValue
            }
            return endpoint
        }

        /// The name of a request's sender, as a server finds it.
        static func name(in request: HTTPRequest) -> String {
            let proof = request.headers["Authorization"] ?? "nobody"
            guard proof.hasPrefix("Basic "), let login = Data(base64Encoded: String(proof.dropFirst(6))) else {
                return proof
            }
            return String(String(decoding: login, as: UTF8.self).prefix { $0 != ":" })
        }
    }

    /// Runs a host with a component in each of the two plugins, and gives their contexts and the key of the second one
    /// to the body.
    private static func running(
        _ server: GatedServer,
        _ body: (_ host: PluginHost, _ contexts: [LendingCommunication.Context], _ key: String) async throws -> Void
    ) async throws {
        let keys = [UUID().uuidString, UUID().uuidString]
        var managers: [String: ManagerDefinition] = [:]
        for (name, key) in zip(["Lending", "Shelf"], keys) {
            managers[name + "Manager"] = ManagerDefinition(
                className: name + "Manager",
                communicationController: ComponentDefinition(
                    className: name + "Communication", configuration: ["key": .string(key)]))
        }
        let library = Credential(hosts: ["books.test"], .basic(Login()))
        let manifest = Manifest(
            plugins: [], managers: managers, network: NetworkSettings(credentials: ["library": library]))
        try await PluginHost.running(manifest, [LendingPlugin.self, ShelfPlugin.self], executors: [server.executor]) {
            // An exchange of swapped code is ended at once.
            $0.servicesLimit = .milliseconds(1)
            $0.openCache = { _, _, _ in DictionaryCache() }
        } _: { host in
            let contexts = try keys.map(LendingCommunication.context)
            for name in ["ann", "bob"] {
                try await contexts[0].http.signIn(
                    "library", as: name, with: ["user": name, "password": "whale"], contexts[0].begin())
            }
            try await body(host, contexts, keys[1])
        }
    }

    /// Swaps the second plugin, and returns the context of its new component.
    private static func swap(_ host: PluginHost, _ key: String) async throws -> LendingCommunication.Context {
        let later = LinkedPlugin(id: ShelfPlugin.id, version: "2.0.0") { ShelfPlugin.register(in: &$0) }
        let coordinator = host.coordinator
        let outcome = try await withTaskExecutorPreference(coordinator.executor) {
            () async throws(BackplaneError) in
            try await coordinator.swap(linked: [later], ChangeOptions()).outcome
        }
        #expect(outcome == .changed)
        return try LendingCommunication.context(key)
    }

    private static func load(
        _ sender: Sender, _ cache: CachePolicy, _ context: LendingCommunication.Context
    ) async throws -> String {
        try await context.http.relative(to: "http://books.test").load(sender.endpoint(cache), context.begin())
    }

    @Test(arguments: [
        CachePolicy.memory(for: .seconds(3_600)), .disk(for: .seconds(3_600)), .http, .http(in: .memory),
        .staleWhileRevalidate(.seconds(3_600)), .staleIfError(.seconds(3_600)),
    ])
    func `a cached response answers its sender in both plugins, and nobody else, before and after a swap`(
        policy: CachePolicy
    ) async throws {
        let server = GatedServer { request, _ in
            .text(Sender.name(in: request), 200, ["Cache-Control": "max-age=3600"])
        }
        try await Self.running(server) { host, contexts, key in
            func loadAll(_ contexts: [LendingCommunication.Context]) async throws {
                for context in contexts {
                    for sender in Sender.allCases {
                        #expect(try await Self.load(sender, policy, context) == sender.rawValue)
                    }
                }
            }
            try await loadAll(contexts)
            let later = [try await Self.swap(host, key), contexts[0]]
            try await loadAll(later)
            if policy.lifetime != Duration.zero { #expect(server.count == Sender.allCases.count) }
            server.answers { _, _ in throw BackplaneError(.networkFailed, "the connection was refused") }
            try await loadAll(later)
        }
    }

    @Test func `an exchange in flight answers its sender in both plugins, and nobody else, also past a swap`()
        async throws
    {
        let server = GatedServer { request, _ in .text(Sender.name(in: request)) }, count = Sender.allCases.count
        try await Self.running(server) { host, contexts, key in
            func loads(_ context: LendingCommunication.Context) -> [Task<String, any Error>] {
                Sender.allCases.map { sender in Task { try await Self.load(sender, .none, context) } }
            }
            server.gate.close()
            let first = loads(contexts[1])
            try await server.gate.arrivals(count)
            let second = loads(contexts[0])
            try await host.network.followers(2 * count)
            let later = try await Self.swap(host, key)
            for load in first {
                let failure = await error { try await load.value }
                #expect(failure?.code == .callRetired)
            }
            try await host.network.followers(count)
            let third = loads(later)
            try await host.network.followers(2 * count)
            server.gate.open()
            for loads in [second, third] {
                for (load, sender) in zip(loads, Sender.allCases) {
                    #expect(try await load.value == sender.rawValue)
                }
            }
            #expect(server.count == count)
        }
    }
}
