import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A plugin with an interceptor that does what a test says.
struct ExtendingPlugin: Plugin {
    static let id = "org.backplane.tests.extending"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) { registrar.add(ScriptedInterceptor.self) }
}

/// An interceptor whose parts are closures of a test.
final class ScriptedInterceptor: Manager {
    typealias Provides = Intercepting
    static let className = "ScriptedInterceptor"
    typealias Configuration = RelayExecutor.Configuration
    struct Script: Sendable {
        var interests: Interests = .requests
        var request: @Sendable (InterceptedRequest, Call) async throws -> InterceptedRequest = { head, _ in head }
        var attempt: @Sendable (InterceptedRequest, Call) async throws -> [[String]] = { _, _ in [] }
        var events: @Sendable (ExchangeEvents) async throws -> Void = { _ in }
    }
    static let scripts = Mutex<[String: Script]>([:])
    private let script: Script

    init(_ context: Context) throws {
        script = try #require(Self.scripts.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.interests) { interceptor, _, _ in interceptor.script.interests }
        table.async(\.request) { interceptor, head, call in try await interceptor.script.request(head, call) }
        table.async(\.attempt) { interceptor, head, call in try await interceptor.script.attempt(head, call) }
        table.async(\.events) { interceptor, batch, _ in
            try await interceptor.script.events(batch)
            return Nothing()
        }
    }
}

/// A host with interceptors of a plugin, and a component that lends its context.
struct ExtendedHost {
    let host: PluginHost
    /// The context of a component that takes no part in exchanges of others.
    let context: LendingCommunication.Context
    /// The contexts of the interceptors' own components, in their order.
    let own: [LendingCommunication.Context]
    /// The keys of the scripts of the interceptors, in their order.
    let keys: [String]

    /// - Parameters:
    ///   - interceptors: The interceptors `Interceptor0`, `Interceptor1`, in their order.
    ///   - hosts: The hosts of all interceptors; empty for every host.
    static func with(
        _ interceptors: [ScriptedInterceptor.Script] = [], hosts: [String] = [],
        engine: any HTTPExecutor = URLSessionEngine.shared, lanes: LaneRule = .fastest,
        _ change: (inout HostOptions) -> Void = { _ in }, _ body: (ExtendedHost) async throws -> Void
    ) async throws {
        var managers: [String: ManagerDefinition] = [:]
        let keys = interceptors.enumerated().map { number, script in
            let key = UUID().uuidString
            ScriptedInterceptor.scripts.withLock { $0[key] = script }
            managers["Interceptor\(number)"] = ManagerDefinition(
                className: "ScriptedInterceptor", configuration: ["key": .string(key)],
                communicationController: ComponentDefinition(
                    className: "LendingCommunication", configuration: ["key": .string(key)]))
            return key
        }
        let lender = UUID().uuidString
        managers["LendingManager"] = ManagerDefinition(
            className: "LendingManager",
            communicationController: ComponentDefinition(
                className: "LendingCommunication", configuration: ["key": .string(lender)]))
        let manifest = Manifest(
            plugins: [], managers: managers,
            network: NetworkSettings(
                interceptors: keys.indices.map { NetworkInterceptor("Interceptor\($0)", hosts: hosts) }))
        try await PluginHost.running(
            manifest, [LendingPlugin.self, ExtendingPlugin.self], executors: [engine], lanes: lanes, change
        ) { host in
            let contexts = try ([lender] + keys).map(LendingCommunication.context)
            try await body(
                ExtendedHost(host: host, context: contexts[0], own: Array(contexts.dropFirst()), keys: keys))
        }
    }

    /// Sends a request of the component, and returns the body of the response.
    func text(_ request: HTTPRequest, _ options: HTTPOptions = HTTPOptions()) async throws -> String {
        String(decoding: try await context.http.send(request, context.begin(), options).body, as: UTF8.self)
    }

    /// The error of an exchange of the component.
    func failure(_ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await context.http.send(request, context.begin()) }
    }
}

/// An executor over sockets that all tests share.
enum URLSessionEngine {
    static let shared: any HTTPExecutor = Engine.urlSession.executor()
}
