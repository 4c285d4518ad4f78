import Backplane
import BackplaneDocuments
import Synchronization

@testable import BackplaneHost

/// A plugin whose managers call a counter through a wire, a stored method of the wire, and a look-up.
struct ClientPlugin: Plugin {
    static let id = "org.backplane.tests.clients"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Client.self)
        registrar.add(RestartingClient.self)
        registrar.add(IndirectClient.self)
    }

    /// - Parameter uses: whom each of its wires leads to.
    static func manager(_ className: String, _ uses: [String: String] = ["counter": "Counter"]) -> ManifestValue {
        ["className": .string(className), "uses": .dictionary(uses.mapValues { .string($0) })]
    }
}

struct Clients: Contract {
    static let version: Version = "1.0.0"
    let add = AsyncMethod<Int, Int>()
    let addKept = AsyncMethod<Int, Int>()
    let addFound = AsyncMethod<Int, Int>()
    let act = AsyncMethod<String, String>()
    let sumNow = SyncMethod<Nothing, Int>()
    /// Which of those that were made it is, from 1.
    let number = AsyncMethod<Nothing, Int>()
}

final class Client: Manager {
    typealias Provides = Clients
    struct Wires: Wiring {
        let counter: Wire<Counting>
    }
    private let context: Context
    private let kept: BoundAsync<Int, Int, Never, RequiredFrame>

    init(_ context: Context) {
        self.context = context
        kept = context.wires.counter.add
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { client, number, call in try await client.context.wires.counter.add(number, call) }
        table.async(\.addKept) { client, number, call in try await client.kept(number, call) }
        table.async(\.addFound) { client, number, call in
            let counter: Wire<Counting> = try await client.context.manager("Counter", for: call)
            return try await counter.add(number, call)
        }
        table.async(\.act) { client, text, call in try await client.context.wires.counter.act(text, call) }
        table.sync(\.sumNow) { client, _, call in try client.context.wires.counter.sumNow(call) }
        table.async(\.number) { _, _, _ in 1 }
    }
}

/// A client that is recreated with the counter it calls.
final class RestartingClient: Manager {
    typealias Provides = Clients
    struct Wires: Wiring {
        let counter: Wire<Counting>
    }
    static let restartOnSwap = true
    static let made = Mutex(0)
    private let context: Context
    private let number: Int

    init(_ context: Context) {
        self.context = context
        number = Self.made.withLock {
            $0 += 1
            return $0
        }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { client, number, call in try await client.context.wires.counter.add(number, call) }
        table.async(\.addKept) { client, number, call in try await client.context.wires.counter.add(number, call) }
        table.async(\.addFound) { client, number, call in try await client.context.wires.counter.add(number, call) }
        table.async(\.act) { client, text, call in try await client.context.wires.counter.act(text, call) }
        table.sync(\.sumNow) { client, _, call in try client.context.wires.counter.sumNow(call) }
        table.async(\.number) { client, _, _ in client.number }
    }
}

/// A client of a client, which is recreated with it.
final class IndirectClient: Manager {
    typealias Provides = Clients
    struct Wires: Wiring {
        let client: Wire<Clients>
    }
    static let restartOnSwap = true
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { indirect, number, call in try await indirect.context.wires.client.add(number, call) }
        table.async(\.addKept) { indirect, number, call in
            try await indirect.context.wires.client.addKept(number, call)
        }
        table.async(\.addFound) { indirect, number, call in
            try await indirect.context.wires.client.addFound(number, call)
        }
        table.async(\.act) { indirect, text, call in try await indirect.context.wires.client.act(text, call) }
        table.sync(\.sumNow) { indirect, _, call in try indirect.context.wires.client.sumNow(call) }
        table.async(\.number) { indirect, _, call in try await indirect.context.wires.client.number(call) }
    }
}
