import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Synchronization

/// Components that a test holds in its hand: calls wait until it lets them go, and what they were made with can be
/// taken out.
struct GatePlugin: Plugin {
    static let id = "org.backplane.tests.gate"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(GateManager.self)
        registrar.add(GateCommunication.self)
    }

    /// A manager named `Gate` whose gate is found under `key`.
    static func manifest(_ key: String) -> String {
        #"""
        {"manifestVersion": 1, "plugins": [], "managers": {"Gate": {"className": "GateManager", "configuration": {"key": "\#(key)"},
          "communicationController": {"className": "GateCommunication", "configuration": {"key": "\#(key)"}}}}}
        """#
    }
}

/// Where calls wait, and what their component was made with.
final class Gate: Sendable {
    private static let all = Mutex<[String: Gate]>([:])

    static func named(_ key: String) -> Gate {
        all.withLock { all in
            let gate = all[key] ?? Gate()
            all[key] = gate
            return gate
        }
    }

    let log = Mutex<Log?>(nil)
    let http = Mutex<HTTPClient?>(nil)
    let calls = TestGate()
}

struct Passage: Contract {
    static let version: Version = "1.0.0"
    let pass = AsyncMethod<Nothing, String>()
    let echo = AsyncMethod<String, String>()
}

struct GateConfiguration: Decodable, Sendable {
    var key: String
}

final class GateManager: Manager {
    typealias Provides = Passage
    typealias Configuration = GateConfiguration
    private let gate: Gate
    private let log: Log

    init(_ context: Context) {
        (gate, log) = (Gate.named(context.configuration.key), context.log)
        gate.log.withLock { $0 = context.log }
    }

    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { manager, _, _ in
            try? await manager.gate.calls.pass()
            manager.log.info("passed")
            return "passed"
        }
        table.async(\.echo) { _, text, _ in text }
    }
}

final class GateCommunication: CommunicationController {
    typealias Configuration = GateConfiguration

    init(_ context: Context) {
        Gate.named(context.configuration.key).http.withLock { $0 = context.http }
    }
}
