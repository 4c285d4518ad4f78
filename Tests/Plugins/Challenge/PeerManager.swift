public import Backplane
import Synchronization

/// The number of a manager, and those of the managers it knows.
public struct Peers: Contract {
    public static let version: Version = "1.0.0"
    /// The number it was configured with.
    public let number = AsyncMethod<Nothing, Int>()
    /// Which instance of its library it is, in the order in which they were made.
    public let instance = SyncMethod<Nothing, Int>()
    /// The numbers of those it is wired to.
    public let friends = AsyncMethod<Nothing, [Int]>()
    /// The numbers of those it looked up in its initialiser.
    public let met = AsyncMethod<Nothing, [Int]>()
    /// The number of a manager by its name in the manifest.
    public let ask = AsyncMethod<String, Int>()
    /// The first manager that serves this contract, whose name has an ending.
    public let resolve = AsyncMethod<String, Int>()
    /// Waits so many seconds, or until it is cancelled.
    public let wait = AsyncMethod<Double, Int>()
    public init() {}
}

/// A manager that is wired, looks up, fails and waits as its configuration says.
final class PeerManager: Manager {
    typealias Provides = Peers
    struct Configuration: Decodable, Sendable {
        var number: Int?
        /// Throws with this text when it is made.
        var fails: String?
        /// Managers to look up when it is made.
        var meets: [String]?
        /// A manager to call when it is made, and whom that one is to ask then.
        var asks: [String]?
        /// A barrier that this many managers have to reach before any of them continues.
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
