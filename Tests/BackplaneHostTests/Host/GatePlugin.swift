import Backplane
import BackplaneNetwork
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

/// Where a call waits.
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
    private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    private let (openings, opening) = AsyncStream.makeStream(of: Void.self)

    /// Waits until a call has come to the gate.
    func arrival() async { for await _ in arrivals { return } }
    /// Lets one call through.
    func open() { opening.yield() }

    func pass() async {
        arrived.yield()
        for await _ in openings { return }
    }
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
            await manager.gate.pass()
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
