import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A plugin with executors in Swift, over engines that the test gives.
struct RelayPlugin: Plugin {
    static let id = "org.backplane.tests.relay"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(RelayExecutor.self)
        registrar.add(ScriptedExecutor.self)
        registrar.add(CallingExecutor.self)
        registrar.add(TextFetcherManager.self)
        registrar.add(TextFetcherCommunication.self)
    }
}

/// An executor that hands its exchanges to an engine.
final class RelayExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "RelayExecutor"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    static let engines = Mutex<[String: any HTTPExecutor]>([:])
    private let engine: any HTTPExecutor

    init(_ context: Context) throws {
        engine = try #require(Self.engines.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { executor, _, _ in executor.engine.capabilities }
        table.stream(\.exchange) { executor, order, parts, _ in
            try await parts.send(try await executor.engine.open(order.request, order.options))
        }
    }
}

/// An executor that does what a test says, also what it must not.
final class ScriptedExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "ScriptedExecutor"
    typealias Configuration = RelayExecutor.Configuration
    typealias Script = @Sendable (HTTPOrder, StreamSender<HTTPResponsePart>) async throws -> Void
    typealias Capabilities = @Sendable () async throws -> HTTPCapabilities
    static let scripts = Mutex<[String: Script]>([:])
    static let capabilities = Mutex<[String: Capabilities]>([:])
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { executor, _, _ in
            let capabilities = Self.capabilities.withLock { $0[executor.context.configuration.key] }
            return try await capabilities?() ?? .streamedUploads
        }
        table.stream(\.exchange) { executor, order, parts, _ in
            let script = try #require(Self.scripts.withLock { $0[executor.context.configuration.key] })
            try await script(order, parts)
        }
    }
}

struct TextFetching: Contract {
    static let version: Version = "1.0.0"
    /// The text at a URL.
    let fetch = AsyncMethod<String, String>()
    /// Opens a URL, keeps the response under its URL, and returns.
    let leave = AsyncMethod<String, Nothing>()
}

/// An executor that answers with what a manager that it finds at run time fetches.
final class CallingExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "CallingExecutor"
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { _, _, _ in .streamedUploads }
        table.stream(\.exchange) { executor, order, parts, call in
            let fetcher = try await executor.context.manager("TextFetcher", as: TextFetching.self, for: call)
            let text = try await fetcher.fetch(order.url, call)
            let body = Array("by a manager: \(text)".utf8)
            try await parts.send(HTTPStreamedResponse(HTTPResponse(status: 200, body: body)))
        }
    }
}

/// A manager whose communication controller fetches what it is asked for.
final class TextFetcherManager: Manager {
    typealias Provides = TextFetching
    static let className = "TextFetcherManager"
    struct Wires: Wiring {
        let communicationController: Wire<TextFetching>
    }
    private let controller: Wire<TextFetching>

    init(_ context: Context) { controller = context.wires.communicationController }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { manager, url, call in try await manager.controller.fetch(url, call) }
        table.async(\.leave) { manager, url, call in try await manager.controller.leave(url, call) }
    }
}

final class TextFetcherCommunication: CommunicationController {
    typealias Provides = TextFetching
    static let className = "TextFetcherCommunication"
    static let left = Mutex<[String: HTTPStreamedResponse]>([:])
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { controller, url, call in
            let response = try await controller.context.http.send(HTTPRequest("GET", url), call)
            return String(decoding: response.body, as: UTF8.self)
        }
        table.async(\.leave) { controller, url, call in
            let response = try await controller.context.http.open(HTTPRequest("GET", url), call)
            Self.left.withLock { $0[url] = response }
            return Nothing()
        }
    }
}

/// A host with an executor of a plugin named `relay`, and a component that lends its context.
struct RelayHost {
    let host: PluginHost
    let manifest: Manifest
    let context: LendingCommunication.Context

    /// - Parameters:
    ///   - engine: The engine of the executor; `nil` for one that follows `script`.
    ///   - capabilities: Returns the capabilities of one that follows `script`.
    ///   - own: The host's own executor.
    static func with(
        _ engine: (any HTTPExecutor)? = nil, script: ScriptedExecutor.Script? = nil,
        capabilities: ScriptedExecutor.Capabilities? = nil, lanes: LaneRule = .fastest,
        own: [any HTTPExecutor] = [], network: NetworkSettings = NetworkSettings(executors: ["relay": "Relay"]),
        _ change: (inout HostOptions) -> Void = { _ in }, _ body: (RelayHost) async throws -> Void
    ) async throws {
        let key = UUID().uuidString
        RelayExecutor.engines.withLock { $0[key] = engine }
        ScriptedExecutor.scripts.withLock { $0[key] = script }
        ScriptedExecutor.capabilities.withLock { $0[key] = capabilities }
        defer {
            RelayExecutor.engines.withLock { $0[key] = nil }
            ScriptedExecutor.scripts.withLock { $0[key] = nil }
            ScriptedExecutor.capabilities.withLock { $0[key] = nil }
        }
        let manifest = Manifest(
            plugins: [],
            managers: [
                "Relay": ManagerDefinition(
                    className: engine == nil ? "ScriptedExecutor" : "RelayExecutor",
                    configuration: ["key": .string(key)]),
                "LendingManager": ManagerDefinition(
                    className: "LendingManager",
                    communicationController: ComponentDefinition(
                        className: "LendingCommunication", configuration: ["key": .string(key)])),
            ], network: network)
        try await PluginHost.running(
            manifest, [LendingPlugin.self, RelayPlugin.self], executors: own, lanes: lanes, change
        ) { host in
            try await body(
                RelayHost(host: host, manifest: manifest, context: LendingCommunication.context(key)))
        }
    }

    /// What an exchange of the component fails with.
    func failure(_ url: String = "relay:books", _ options: HTTPOptions = HTTPOptions()) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) {
            try await context.http.send(HTTPRequest("GET", url), context.begin(), options)
        }
    }
}
