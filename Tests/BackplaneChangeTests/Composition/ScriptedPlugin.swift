import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import Synchronization
import TestFixtures

@testable import BackplaneHost

/// Managers whose every step is what a test wants, found by the key in their configurations.
struct ScriptedPlugin: Plugin {
    static let id = "org.backplane.tests.scripted"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(ScriptedManager.self) }

    /// A host of scripted managers and the tests' other ones.
    ///
    /// - Parameter managers: of each its script and, under `left`, the manager it is wired to.
    static func host(
        _ managers: [String: Part], plugins: [any Plugin.Type] = [], lanes: LaneRule = .fastest,
        stopLimit: Duration = .seconds(60)
    ) throws -> TestHost {
        try TestHost(
            String(decoding: manifest(managers).json, as: UTF8.self), plugins: [ScriptedPlugin.self] + plugins,
            lanes: lanes, stopLimit: stopLimit)
    }

    static func document(_ managers: [String: Part]) -> ManifestDocument { ManifestDocument(manifest(managers)) }

    private static func manifest(_ managers: [String: Part]) -> ManifestValue {
        ["manifestVersion": 1, "plugins": [], "managers": .dictionary(managers.mapValues(\.value))]
    }

    struct Part {
        var script = Script()
        var left: String?
        var isLazy = false
        /// Anything: another one is another configuration.
        var edition = 0

        var value: ManifestValue {
            var value: [String: ManifestValue] = [
                "className": "ScriptedManager",
                "configuration": ["key": .string(script.key), "edition": .integer(Int64(edition))],
            ]
            if let left { value["uses"] = ["left": .string(left)] }
            if isLazy { value["activation"] = "lazy" }
            return .dictionary(value)
        }
    }
}

struct Scripted: Contract {
    static let version: Version = "1.0.0"
    let act = AsyncMethod<String, String>()
    let actNow = SyncMethod<String, String>()
}

/// What a scripted manager does.
struct Script: Sendable {
    typealias Step = @Sendable (ScriptedManager.Context) async throws -> Void
    typealias Act = @Sendable (ScriptedManager.Context, String, Call) async throws -> String
    private static let all = Mutex<[String: Script]>([:])

    fileprivate let key = UUID().uuidString
    /// Of its managers, those that are there.
    let instances = InstanceCount()

    /// - Parameter act: what `act` answers; default: its input.
    init(
        made: @escaping Step = { _ in }, activated: @escaping Step = { _ in }, stopped: @escaping Step = { _ in },
        act: @escaping Act = { _, text, _ in text }
    ) {
        (self.made, self.activated, self.stopped, self.act) = (made, activated, stopped, act)
        let script = self
        Self.all.withLock { $0[key] = script }
    }

    fileprivate let made, activated, stopped: Step
    fileprivate let act: Act

    fileprivate static func of(_ key: String) -> Script { all.withLock { $0[key] } ?? Script() }
}

final class ScriptedManager: Manager {
    typealias Provides = Scripted
    struct Configuration: Decodable, Sendable {
        var key: String
        var edition: Int
    }
    struct Wires: Wiring {
        let left: Wire<Scripted>?
    }
    private let context: Context
    private let script: Script

    init(_ context: Context) async throws {
        self.context = context
        script = Script.of(context.configuration.key)
        script.instances.add(1)
        try await script.made(context)
    }

    deinit { script.instances.add(-1) }

    func activate() async throws { try await script.activated(context) }
    func stop() async { try? await script.stopped(context) }

    static func methods(_ table: inout Methods) {
        table.async(\.act) { manager, text, call in try await manager.script.act(manager.context, text, call) }
        table.sync(\.actNow) { manager, _, _ in "\(manager.context.configuration.edition)" }
    }
}

/// How many there are of something.
final class InstanceCount: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    fileprivate func add(_ change: Int) { number.withLock { $0 += change } }
}
