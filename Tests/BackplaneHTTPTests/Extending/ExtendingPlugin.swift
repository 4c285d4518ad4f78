import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A plugin with a filter and an observer that do what a test says.
struct ExtendingPlugin: Plugin {
    static let id = "org.backplane.tests.extending"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ScriptedFilter.self)
        registrar.add(ScriptedObserver.self)
    }
}

/// A filter whose parts are closures of a test.
final class ScriptedFilter: Manager {
    typealias Provides = ExchangeFiltering
    static let className = "ScriptedFilter"
    typealias Configuration = RelayExecutor.Configuration
    struct Script: Sendable {
        var interests: FilterInterests = .requests
        var request: @Sendable (FilteredRequest, Call) async throws -> FilteredRequest = { head, _ in head }
        var attempt: @Sendable (FilteredRequest, Call) async throws -> [[String]] = { _, _ in [] }
    }
    static let scripts = Mutex<[String: Script]>([:])
    private let script: Script

    init(_ context: Context) throws {
        script = try #require(Self.scripts.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.interests) { filter, _, _ in filter.script.interests }
        table.async(\.request) { filter, head, call in try await filter.script.request(head, call) }
        table.async(\.attempt) { filter, head, call in try await filter.script.attempt(head, call) }
    }
}

/// An observer that is a closure of a test.
final class ScriptedObserver: Manager {
    typealias Provides = ExchangeObserving
    static let className = "ScriptedObserver"
    typealias Configuration = RelayExecutor.Configuration
    typealias Script = @Sendable (ExchangeEvents) async throws -> Void
    static let scripts = Mutex<[String: Script]>([:])
    private let script: Script

    init(_ context: Context) throws {
        script = try #require(Self.scripts.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.observe) { observer, batch, _ in
            try await observer.script(batch)
            return Nothing()
        }
    }
}

/// A host with filters and an observer of a plugin, and a component that lends its context.
struct ExtendedHost {
    let host: PluginHost
    /// The context of a component that takes no part in exchanges of others.
    let context: LendingCommunication.Context
    /// The contexts of the filters' and the observer's own components, in this order.
    let own: [LendingCommunication.Context]
    /// The keys of the scripts of the filters and of the observer, in this order.
    let keys: [String]

    /// - Parameters:
    ///   - filters: The filters `Filter0`, `Filter1`, in their order.
    ///   - hosts: The hosts of all filters; empty for every host.
    static func with(
        filters: [ScriptedFilter.Script] = [], hosts: [String] = [], observer: ScriptedObserver.Script? = nil,
        engine: any HTTPExecutor = URLSessionEngine.shared, lanes: LaneRule = .fastest,
        _ change: (inout HostOptions) -> Void = { _ in }, _ body: (ExtendedHost) async throws -> Void
    ) async throws {
        var keys: [String] = [], managers: [String: ManagerDefinition] = [:]
        func add(_ name: String, _ className: String) -> String {
            let key = UUID().uuidString
            keys.append(key)
            managers[name] = ManagerDefinition(
                className: className, configuration: ["key": .string(key)],
                communicationController: ComponentDefinition(
                    className: "LendingCommunication", configuration: ["key": .string(key)]))
            return key
        }
        for (number, script) in filters.enumerated() {
            let key = add("Filter\(number)", "ScriptedFilter")
            ScriptedFilter.scripts.withLock { $0[key] = script }
        }
        if let observer {
            let key = add("Observer", "ScriptedObserver")
            ScriptedObserver.scripts.withLock { $0[key] = observer }
        }
        let lender = UUID().uuidString
        managers["LendingManager"] = ManagerDefinition(
            className: "LendingManager",
            communicationController: ComponentDefinition(
                className: "LendingCommunication", configuration: ["key": .string(lender)]))
        let manifest = Manifest(
            plugins: [], managers: managers,
            network: NetworkSettings(
                filters: filters.indices.map { NetworkFilter("Filter\($0)", hosts: hosts) },
                observers: observer == nil ? [] : ["Observer"]))
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
