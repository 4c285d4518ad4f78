import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Synchronization
import TestFixtures

@testable import BackplaneHost

/// A plugin whose managers call a counter through a wire, a stored method of the wire, and a look-up.
struct ClientPlugin: Plugin {
    static let id = "org.backplane.tests.clients"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Client<CalmClient>.self)
        registrar.add(Client<RestartingClient>.self)
        registrar.add(IndirectClient.self)
    }

    /// How many clients were made.
    fileprivate static let made = Atomic(0)

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

/// What a client's class says of itself.
protocol ClientTraits: Sendable {
    static var className: String { get }
    static var restartOnSwap: Bool { get }
}

enum CalmClient: ClientTraits {
    static let className = "Client"
    static let restartOnSwap = false
}

/// A client that is recreated with the counter it calls.
enum RestartingClient: ClientTraits {
    static let className = "RestartingClient"
    static let restartOnSwap = true
}

final class Client<Manner: ClientTraits>: Manager {
    typealias Provides = Clients
    struct Wires: Wiring {
        let counter: Wire<Counting>
    }
    static var className: String { Manner.className }
    static var restartOnSwap: Bool { Manner.restartOnSwap }
    private let context: Context
    private let kept: BoundAsync<Int, Int, Never, RequiredFrame>
    private let number = ClientPlugin.made.add(1, ordering: .relaxed).newValue

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

/// Managers without state: one that swaps without waiting, and one that is exclusive.
enum WorkerPlugin {
    static let id = "org.backplane.tests.workers"

    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) {
            $0.add(Worker<PlainTraits>.self)
            $0.add(Worker<ExclusiveWorker>.self)
        }
    }

    /// - Parameter events: whose script it follows.
    static func manager(_ className: String, _ events: CounterEvents) -> ManifestValue {
        ["className": .string(className), "configuration": ["key": .string(events.key)]]
    }
}

struct Working: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
    /// What the script says.
    let serve = AsyncMethod<String, String>()
}

/// What a worker's class says of itself.
protocol WorkerTraits: Sendable {
    static var className: String { get }
    static var isExclusive: Bool { get }
}

enum PlainTraits: WorkerTraits {
    static let className = "Worker"
    static let isExclusive = false
}

enum ExclusiveWorker: WorkerTraits {
    static let className = "ExclusiveWorker"
    static let isExclusive = true
}

final class Worker<Manner: WorkerTraits>: Manager {
    typealias Provides = Working
    typealias Configuration = StatefulCounter.Configuration
    static var className: String { Manner.className }
    static var isExclusive: Bool { Manner.isExclusive }
    private let script: CounterScript
    private let events: CounterEvents

    init(_ context: Context) async throws {
        events = CounterEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.built()
        try script.timers(context.tasks, events)
    }

    deinit { events.note("gone \(script.edition)") }

    func activate() async throws {
        events.note("activate \(script.edition)")
        try await script.opened()
    }
    func suspend() async throws {
        events.note("suspend \(script.edition)")
        try await script.shut()
    }
    func resume() async throws { events.note("resume \(script.edition)") }
    func stop() async { events.note("stop \(script.edition)") }
    func health() async throws { try await script.health() }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { worker, _, _ in worker.script.edition }
        table.async(\.serve) { worker, text, _ in try await worker.script.serve(text) }
    }
}

/// A plugin in C whose manager is called as a counter is, and hands every call on to one.
enum RelayPlugin {
    /// A folder with its library, `Relay`.
    static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(library(), as: "libRelay.so")
        return folder
    }

    /// Its bytes, which differ from build to build.
    static func library(build: Int = 1) throws -> [UInt8] {
        try FixtureLibrary.bytes(id: "org.example.relay", settings: ["build": "\(build)"])
    }

    static func manager(to counter: String = "Counter") -> ManifestValue {
        ["className": "Relay", "uses": ["counter": .string(counter)]]
    }
}

/// The counter's class as other editions of its plugin have it.
enum OtherCounters {
    /// More methods, a minor version up.
    static let wider = LinkedPlugin(id: CounterHost.plugin, version: "2.0.0") { $0.add(WiderCounter.self) }
    /// Another contract.
    static let strange = LinkedPlugin(id: CounterHost.plugin, version: "3.0.0") { $0.add(IncompatibleCounter.self) }
    /// State of the next version, with a way up and a way down.
    static let newer = LinkedPlugin(id: CounterHost.plugin, version: "4.0.0") { $0.add(CentsCounter<BothWays>.self) }
    /// The same without a way down.
    static let oneWay = LinkedPlugin(id: CounterHost.plugin, version: "5.0.0") { $0.add(CentsCounter<WayUp>.self) }
    /// Fewer methods, the same version.
    static let narrower = LinkedPlugin(id: CounterHost.plugin, version: "6.0.0") { $0.add(NarrowerCounter.self) }
}

struct WiderCounting: Contract {
    static let name = "Counting"
    static let version: Version = "1.1.0"
    let add = AsyncMethod<Int, Int>()
    let more = SyncMethod<Nothing, Int>()
    let edition = AsyncMethod<Nothing, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    let act = AsyncMethod<String, String>()
    let actNow = SyncMethod<String, String>()
}

final class WiderCounter: Manager, StatefulComponent {
    typealias Provides = WiderCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")
    private let sum = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState(sum: sum.withLock { $0 }) }
    func importState(_ state: CounterState) { sum.withLock { $0 = state.sum } }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.sync(\.more) { _, _, _ in 0 }
        table.async(\.edition) { _, _, _ in 2 }
        table.sync(\.sumNow) { counter, _, _ in counter.sum.withLock { $0 } }
        table.sync(\.editionNow) { _, _, _ in 2 }
        table.async(\.act) { _, text, _ in text }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

struct IncompatibleCounting: Contract {
    static let name = "Counting"
    static let version: Version = "2.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

final class IncompatibleCounter: Manager, StatefulComponent {
    typealias Provides = IncompatibleCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState() }
    func importState(_ state: CounterState) {}
    static func methods(_ table: inout Methods) { table.async(\.edition) { _, _, _ in 3 } }
}

/// The counter's contract without `act` and `edition`.
struct NarrowerCounting: Contract {
    static let name = "Counting"
    static let version: Version = "1.0.0"
    let add = AsyncMethod<Int, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    let actNow = SyncMethod<String, String>()
}

final class NarrowerCounter: Manager, StatefulComponent {
    typealias Provides = NarrowerCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")
    private let sum = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState(sum: sum.withLock { $0 }) }
    func importState(_ state: CounterState) { sum.withLock { $0 = state.sum } }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.sync(\.sumNow) { counter, _, _ in counter.sum.withLock { $0 } }
        table.sync(\.editionNow) { _, _, _ in 6 }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

/// The sum in cents.
struct CentsState: Codable, Sendable {
    var cents = 0
}

/// The ways between the versions of a counter's state.
protocol StateWays: Sendable {
    static var edition: Int { get }
    static var schema: StateSchema { get }
}

enum BothWays: StateWays {
    static let edition = 4
    static let schema = StateSchema(name: "counter", version: 2, accepts: 1...2, writes: 1)
}

enum WayUp: StateWays {
    static let edition = 5
    static let schema = StateSchema(name: "counter", version: 2, accepts: 1...2)
}

final class CentsCounter<Ways: StateWays>: Manager, StatefulComponent {
    typealias Provides = Counting
    typealias Configuration = StatefulCounter.Configuration
    static var className: String { "StatefulCounter" }
    static var stateSchema: StateSchema { Ways.schema }
    private let cents = Mutex(0)

    init(_ context: Context) {}

    func exportState() -> CentsState { CentsState(cents: cents.withLock { $0 }) }
    func importState(_ state: CentsState) { cents.withLock { $0 = state.cents } }

    static func migrateUp(_ state: StoredState, from version: Int) throws -> CentsState {
        CentsState(cents: try state.decode(CounterState.self).sum * 100)
    }

    static func migrateDown(_ state: CentsState, to version: Int) throws -> any Encodable {
        CounterState(sum: state.cents / 100)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.cents.withLock {
                $0 += number * 100
                return $0 / 100
            }
        }
        table.async(\.edition) { _, _, _ in Ways.edition }
        table.sync(\.sumNow) { counter, _, _ in counter.cents.withLock { $0 / 100 } }
        table.sync(\.editionNow) { _, _, _ in Ways.edition }
        table.async(\.act) { _, text, _ in throw BackplaneError(.componentFailed, text) }
        table.sync(\.actNow) { _, text, _ in text }
    }
}
