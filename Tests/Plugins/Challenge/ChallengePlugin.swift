public import Backplane
public import FoundationEssentials
import Synchronization

/// The collaborators of a manager.
public struct Surroundings: Codable, Sendable, Hashable {
    public var dataAccessController: String?
    public var communicationController: String?
    public var services: [String]

    public init(dataAccessController: String? = nil, communicationController: String? = nil, services: [String] = []) {
        (self.dataAccessController, self.communicationController, self.services) = (
            dataAccessController, communicationController, services
        )
    }
}

public struct Challenge: Contract {
    public static let version: Version = "1.0.0"
    /// Asks every collaborator for its name.
    public let surroundings = AsyncMethod<Nothing, Surroundings>()
    /// The answers of the collaborators during the manager's initialiser.
    public let atStart = SyncMethod<Nothing, Surroundings>()
    public init() {}
}

public struct ChallengeStorage: Contract {
    public static let version: Version = "1.0.0"
    public let whoAreYou = SyncMethod<Nothing, String>()
    public init() {}
}

public struct ChallengeNetwork: Contract {
    public static let version: Version = "1.0.0"
    public let whoAreYou = AsyncMethod<Nothing, String>()
    public let services = AsyncMethod<Nothing, [String]>()
    public init() {}
}

public struct ChallengeEndpoint: Contract {
    public static let version: Version = "1.0.0"
    /// The configured `NIFServiceName`.
    public let name = AsyncMethod<Nothing, String>()
    public init() {}
}

/// Both collaborators are optional, as Nemo Logic's were.
final class ChallengeManager: Manager {
    typealias Provides = Challenge
    struct Wires: Wiring {
        let dataAccessController: Wire<ChallengeStorage>?
        let communicationController: Wire<ChallengeNetwork>?
    }
    private let wires: Wires
    private let log: Log
    private let atStart: Surroundings

    init(_ context: Context) async throws {
        (wires, log) = (context.wires, context.log)
        atStart = try await Self.surroundings(wires, context.begin())
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.surroundings) { manager, _, call in try await surroundings(manager.wires, call) }
        table.sync(\.atStart) { manager, _, _ in manager.atStart }
    }

    private static func surroundings(_ wires: Wires, _ call: Call) async throws -> Surroundings {
        Surroundings(
            dataAccessController: try wires.dataAccessController?.whoAreYou(call),
            communicationController: try await wires.communicationController?.whoAreYou(call),
            services: try await wires.communicationController?.services(call) ?? [])
    }
}

final class ChallengeDataAccess: DataAccessController {
    typealias Provides = ChallengeStorage
    private let log: Log

    init(_ context: Context) {
        log = context.log
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.sync(\.whoAreYou) { _, _, _ in "ChallengeDataAccess" }
    }
}

final class ChallengeCommunication: CommunicationController {
    typealias Provides = ChallengeNetwork
    struct Wires: Wiring {
        let challengeService: Wire<ChallengeEndpoint>?
        let secondService: Wire<ChallengeEndpoint>?
    }
    private let wires: Wires
    private let log: Log

    init(_ context: Context) {
        (wires, log) = (context.wires, context.log)
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.whoAreYou) { _, _, _ in "ChallengeCommunication" }
        table.async(\.services) { controller, _, call in
            var names: [String] = []
            for service in [controller.wires.challengeService, controller.wires.secondService] {
                if let service { names.append(try await service.name(call)) }
            }
            return names
        }
    }
}

actor ChallengeService: NetworkService {
    typealias Provides = ChallengeEndpoint
    struct Configuration: Decodable, Sendable {
        var NIFServiceName: String
    }
    private let name: String
    private let log: Log

    init(_ context: Context) {
        (name, log) = (context.configuration.NIFServiceName, context.log)
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.name) { service, _, _ in service.name }
    }
}

/// A plugin with the layers of Nemo Logic's own tests, a manager that fails in every possible way, and a clock.
public struct ChallengePlugin: Plugin {
    public static let id = "org.backplane.tests.challenge"
    public static let version: Version = "1.4.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(ChallengeManager.self)
        registrar.add(ChallengeDataAccess.self)
        registrar.add(ChallengeCommunication.self)
        registrar.add(ChallengeService.self)
        registrar.add(TrialManager.self)
        registrar.add(RelayManager.self)
        registrar.add(PeerManager.self)
        registrar.add(Timepiece.self)
    }
}

/// The number of a manager, and the numbers of the managers that it knows.
public struct Peers: Contract {
    public static let version: Version = "1.0.0"
    /// The configured number.
    public let number = AsyncMethod<Nothing, Int>()
    /// The number of the instance, in the order in which the library's instances were created.
    public let instance = SyncMethod<Nothing, Int>()
    /// The numbers of the managers to which it is wired.
    public let friends = AsyncMethod<Nothing, [Int]>()
    /// The numbers of the managers that it looked up in its initialiser.
    public let met = AsyncMethod<Nothing, [Int]>()
    /// The number of a manager by its name in the manifest.
    public let ask = AsyncMethod<String, Int>()
    /// The number of the first manager with this contract whose name has the given ending.
    public let resolve = AsyncMethod<String, Int>()
    /// Waits so many seconds, or until it is cancelled.
    public let wait = AsyncMethod<Double, Int>()
    public init() {}
}

/// A manager whose wires, look-ups, failures and waits depend on its configuration.
final class PeerManager: Manager {
    typealias Provides = Peers
    struct Configuration: Decodable, Sendable {
        var number: Int?
        /// The text of an error that the initialiser throws.
        var fails: String?
        /// The managers to look up in the initialiser.
        var meets: [String]?
        /// The manager to call in the initialiser, and the manager that it then calls.
        var asks: [String]?
        /// A barrier that a number of managers must reach before any of them continues.
        var barrier: Barrier?
        struct Barrier: Decodable, Sendable {
            var name: String
            var count: Int
        }
    }
    struct Wires: Wiring {
        let left: Wire<Peers>?
        let right: Wire<Peers>?
    }
    private static let instances = Atomic(0)
    private let context: Context
    private let instance: Int
    private let met: [Wire<Peers>]

    init(_ context: Context) async throws {
        instance = Self.instances.add(1, ordering: .relaxed).newValue
        self.context = context
        if let text = context.configuration.fails { throw Refusal(text: text) }
        if let barrier = context.configuration.barrier { try await Barriers.join(barrier.name, of: barrier.count) }
        var met: [Wire<Peers>] = []
        for name in context.configuration.meets ?? [] { met.append(try await context.manager(name)) }
        if let asks = context.configuration.asks {
            let other: Wire<Peers> = try await context.manager(asks[0])
            _ = try await other.ask(asks[1], context.begin())
        }
        self.met = met
    }

    private var number: Int { context.configuration.number ?? 0 }

    static func methods(_ table: inout Methods) {
        table.async(\.number) { manager, _, _ in manager.number }
        table.sync(\.instance) { manager, _, _ in manager.instance }
        table.async(\.friends) { manager, _, call in
            var numbers: [Int] = []
            for wire in [manager.context.wires.left, manager.context.wires.right] {
                if let wire { numbers.append(try await wire.number(call)) }
            }
            return numbers
        }
        table.async(\.met) { manager, _, call in
            var numbers: [Int] = []
            for wire in manager.met { numbers.append(try await wire.number(call)) }
            return numbers
        }
        table.async(\.ask) { manager, name, call in
            let other: Wire<Peers> = try await manager.context.manager(name, for: call)
            return try await other.number(call)
        }
        table.async(\.resolve) { manager, ending, call in
            let other = try await manager.context.resolve(
                Peers.self, where: { $0.name.hasSuffix(ending) }, for: call)
            return try await other.number(call)
        }
        table.async(\.wait) { manager, seconds, _ in
            try await Task.sleep(for: .seconds(seconds))
            return manager.number
        }
    }
}

private struct Refusal: ComponentError {
    var text: String
    var code: String { "peer.refusal" }
    var message: String { text }
}

/// The barriers at which starting managers wait for one another.
private enum Barriers {
    private static let count = Mutex<[String: Int]>([:])

    static func join(_ name: String, of wanted: Int) async throws {
        count.withLock { $0[name, default: 0] += 1 }
        while count.withLock({ $0[name] ?? 0 }) < wanted {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

/// The contract of the plugin in C, `Plugins/Clock`.
public struct WallTime: Contract {
    public static let version: Version = "1.0.0"
    public let now = SyncMethod<Nothing, Date>()
    public let echo = AsyncMethod<String, String>()
    public init() {}
}

/// The manager of `Plugins/Clock`, in Swift.
final class Timepiece: Manager {
    typealias Provides = WallTime

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in Date.now }
        table.async(\.echo) { _, text, _ in text }
    }
}

/// The failures of a manager, and the properties of its calls.
public struct Trials: Contract {
    public static let version: Version = "2.1.0"
    /// Throws a component error.
    public let fail = AsyncMethod<String, Nothing>()
    public let failNow = SyncMethod<String, Nothing>()
    /// Returns infinity, which JSON cannot represent.
    public let infinity = AsyncMethod<Nothing, Double>()
    /// Waits so many seconds, or until it is cancelled.
    public let wait = AsyncMethod<Double, String>()
    /// The number of times `wait` was cancelled.
    public let cancellations = SyncMethod<Nothing, Int>()
    /// The numbers of the components through which this call came.
    public let path = SyncMethod<Nothing, [UInt16]>()
    /// The number of seconds until the call's deadline.
    public let timeLeft = SyncMethod<Nothing, Double?>()
    public init() {}
}

final class TrialManager: Manager {
    typealias Provides = Trials
    struct Configuration: Decodable, Sendable {
        var refusesToStart: Bool?
        var refusesToActivate: Bool?
        var neverStarts: Bool?
    }
    private let cancelled = Atomic(0)
    private let configuration: Configuration

    init(_ context: Context) async throws {
        configuration = context.configuration
        if configuration.refusesToStart == true { throw Trouble(text: "not today") }
        if configuration.neverStarts == true { try await Task.sleep(for: .seconds(3_600)) }
    }

    func activate() throws {
        if configuration.refusesToActivate == true { throw Trouble(text: "no port") }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.fail) { _, text, _ in throw Trouble(text: text) }
        table.sync(\.failNow) { _, text, _ in throw Trouble(text: text) }
        table.async(\.infinity) { _, _, _ in .infinity }
        table.async(\.wait) { manager, seconds, _ in try await manager.wait(seconds) }
        table.sync(\.cancellations) { manager, _, _ in manager.cancelled.load(ordering: .sequentiallyConsistent) }
        table.sync(\.path) { _, _, call in call.path }
        table.sync(\.timeLeft) { _, _, call in call.timeLeft.map { $0 / .seconds(1) } }
    }

    private func wait(_ seconds: Double) async throws -> String {
        do {
            try await Task.sleep(for: .seconds(seconds))
            return "waited"
        } catch {
            cancelled.add(1, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    struct Trouble: ComponentError {
        var text: String
        var code: String { "trial.trouble" }
        var message: String { text }
        var details: [String: String] { ["length": "\(text.count)"] }
    }
}

/// Calls that are forwarded to another manager, to examine the call that arrives there.
public struct Relay: Contract {
    public static let version: Version = "1.0.0"
    public let path = AsyncMethod<Nothing, [UInt16]>()
    public let timeLeft = AsyncMethod<Nothing, Double?>()
    public let fail = AsyncMethod<String, Nothing>()
    public let wait = AsyncMethod<Double, String>()
    public init() {}
}

final class RelayManager: Manager {
    typealias Provides = Relay
    struct Wires: Wiring {
        let trials: Wire<Trials>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.path) { manager, _, call in try manager.wires.trials.path(call) }
        table.async(\.timeLeft) { manager, _, call in try manager.wires.trials.timeLeft(call) }
        table.async(\.fail) { manager, text, call in try await manager.wires.trials.fail(text, call) }
        table.async(\.wait) { manager, seconds, call in try await manager.wires.trials.wait(seconds, call) }
    }
}
