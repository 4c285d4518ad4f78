package import Backplane
import BackplaneDocuments
package import BackplaneHost
package import BackplaneTestKit
import Foundation
import Synchronization

/// A plugin with managers whose steps are scripts of a test, found by the key in the managers' configurations.
package struct ScriptedPlugin: Plugin {
    package static let id = "org.backplane.tests.scripted"
    package static let version: Version = "1.0.0"

    package static func register(in registrar: inout Registrar) { registrar.add(ScriptedManager.self) }

    /// Returns a host with scripted managers and with the managers of other plugins.
    ///
    /// - Parameter managers: The script of each manager and, as `left`, the manager to which it is wired.
    package static func host(
        _ managers: [String: Part], plugins: [any Plugin.Type] = [], lanes: LaneRule = .fastest,
        stopLimit: Duration = .seconds(60)
    ) throws -> TestHost {
        try TestHost(
            String(decoding: manifest(managers).json, as: UTF8.self), plugins: [ScriptedPlugin.self] + plugins,
            lanes: lanes, stopLimit: stopLimit)
    }

    package static func document(_ managers: [String: Part]) -> ManifestDocument {
        ManifestDocument(manifest(managers))
    }

    private static func manifest(_ managers: [String: Part]) -> ManifestValue {
        ["manifestVersion": 1, "plugins": [], "managers": .dictionary(managers.mapValues(\.value))]
    }

    package struct Part {
        package var script: Script
        package var left: String?
        package var isLazy: Bool
        /// Any number; a different number makes the configuration different.
        package var edition: Int

        package init(script: Script = Script(), left: String? = nil, isLazy: Bool = false, edition: Int = 0) {
            (self.script, self.left, self.isLazy, self.edition) = (script, left, isLazy, edition)
        }

        package var value: ManifestValue {
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

package struct Scripted: Contract {
    package static let version: Version = "1.0.0"
    package let act = AsyncMethod<String, String>()
    package let actNow = SyncMethod<String, String>()

    package init() {}
}

/// The steps of a scripted manager.
package struct Script: Sendable {
    package typealias Step = @Sendable (ScriptedManager.Context) async throws -> Void
    package typealias Act = @Sendable (ScriptedManager.Context, String, Call) async throws -> String

    private static let all = Mutex<[String: Script]>([:])
    fileprivate let key = UUID().uuidString
    /// The number of existing managers with this script.
    package let instances = InstanceCount()

    /// - Parameter act: The function that answers `act`; by default, it returns its input.
    package init(
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

package final class ScriptedManager: Manager {
    package typealias Provides = Scripted
    package struct Configuration: Decodable, Sendable {
        fileprivate var key: String
        fileprivate var edition: Int
    }
    package struct Wires: Wiring {
        package let left: Wire<Scripted>?
    }
    private let context: Context
    private let script: Script

    package init(_ context: Context) async throws {
        self.context = context
        script = Script.of(context.configuration.key)
        script.instances.add(1)
        try await script.made(context)
    }

    deinit { script.instances.add(-1) }

    package func activate() async throws { try await script.activated(context) }
    package func stop() async { try? await script.stopped(context) }

    package static func methods(_ table: inout Methods) {
        table.async(\.act) { manager, text, call in try await manager.script.act(manager.context, text, call) }
        table.sync(\.actNow) { manager, _, _ in "\(manager.context.configuration.edition)" }
    }
}

/// The number of existing instances.
package final class InstanceCount: Sendable {
    private let number = Mutex(0)
    package var count: Int { number.withLock { $0 } }
    fileprivate func add(_ change: Int) { number.withLock { $0 += change } }
}
