import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A plugin whose communication controller lends its context to the test.
struct LendingPlugin: Plugin {
    static let id = "org.backplane.tests.lending"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LendingManager.self)
        registrar.add(LendingCommunication.self)
    }
}

struct Lending: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

final class LendingManager: Manager {
    static let className = "LendingManager"
    struct Wires: Wiring {
        let communicationController: Wire<Lending>
    }

    init(_ context: Context) {}
}

final class LendingCommunication: CommunicationController {
    typealias Provides = Lending
    static let className = "LendingCommunication"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    private static let contexts = Mutex<[String: Context]>([:])

    /// The context of the component with that key, once.
    static func context(_ key: String) throws -> Context {
        try #require(contexts.withLock { $0.removeValue(forKey: key) })
    }

    init(_ context: Context) {
        Self.contexts.withLock { $0[context.configuration.key] = context }
    }

    static func methods(_ table: inout Methods) {
        table.sync(\.nothing) { _, _, _ in Nothing() }
    }
}

extension LendingPlugin {
    static func manifest(of key: String, traced: [String] = []) -> Manifest {
        Manifest(
            plugins: [],
            managers: [
                "LendingManager": ManagerDefinition(
                    className: "LendingManager",
                    communicationController: ComponentDefinition(
                        className: "LendingCommunication", configuration: ["key": .string(key)]))
            ], network: NetworkSettings(traced: traced))
    }

    /// Runs a host whose one component lends its context to the test.
    ///
    /// - Parameter traced: The hosts that traces are sent to.
    static func lent(
        _ engine: Engine, traced: [String] = [], _ change: (inout HostOptions) -> Void = { _ in },
        _ body: (PluginHost, LendingCommunication.Context) async throws -> Void
    ) async throws {
        let key = UUID().uuidString, manifest = manifest(of: key, traced: traced)
        try await PluginHost.running(manifest, [LendingPlugin.self], executors: [engine.executor()], change) { host in
            try await body(host, LendingCommunication.context(key))
        }
    }
}
