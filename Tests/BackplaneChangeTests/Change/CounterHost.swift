import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The steps of a counter in one edition of its plugin, defined by a test.
struct CounterScript: Sendable {
    typealias Step = @Sendable (StatefulCounter.Context) async throws -> Void
    var edition = 1
    var made: Step = { _ in }
    /// The timers of a counter or a worker, which its `init` adds.
    var timers: @Sendable (ComponentTasks, CounterEvents) throws -> Void = { _, _ in }
    var activated: Step = { _ in }
    var suspended: Step = { _ in }
    var resumed: Step = { _ in }
    var exported: @Sendable (CounterState) async throws -> CounterState = { $0 }
    var imported: @Sendable (CounterState) async throws -> CounterState = { $0 }
    var health: @Sendable () async throws -> Void = {}
    var act: @Sendable (StatefulCounter, String, Call) async throws -> String = { _, text, _ in text }
    var actNow: @Sendable (StatefulCounter, String) throws -> String = { _, text in text }
    // The steps of a worker.
    var built: @Sendable () async throws -> Void = {}
    var opened: @Sendable () async throws -> Void = {}
    var shut: @Sendable () async throws -> Void = {}
    var serve: @Sendable (String) async throws -> String = { $0 }
}

struct CounterState: Codable, Sendable {
    var sum = 0
}

struct Counting: Contract {
    static let version: Version = "1.0.0"
    /// Adds, and answers with the sum.
    let add = AsyncMethod<Int, Int>()
    let edition = AsyncMethod<Nothing, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    /// What the script says.
    let act = AsyncMethod<String, String>()
    let actNow = SyncMethod<String, String>()
}

/// A manager with state whose every step is what a test wants, by its plugin's edition.
final class StatefulCounter: Manager, StatefulComponent {
    typealias Provides = Counting
    typealias State = CounterState
    struct Configuration: Decodable, Sendable {
        var key: String
    }
    struct Wires: Wiring {
        let next: Wire<Counting>?
    }
    static let stateSchema = StateSchema(name: "counter")
    let context: Context
    let script: CounterScript
    let events: CounterEvents
    let sum = Mutex(0)

    init(_ context: Context) async throws {
        self.context = context
        events = CounterEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.made(context)
        try script.timers(context.tasks, events)
    }

    deinit { events.note("gone \(script.edition)") }

    func activate() async throws {
        events.note("activate \(script.edition)")
        try await script.activated(context)
    }
    func suspend() async throws {
        events.note("suspend \(script.edition)")
        try await script.suspended(context)
    }
    func resume() async throws {
        events.note("resume \(script.edition)")
        try await script.resumed(context)
    }
    func stop() async { events.note("stop \(script.edition)") }
    func health() async throws { try await script.health() }
    func exportState() async throws -> CounterState {
        events.note("export \(script.edition)")
        return try await script.exported(CounterState(sum: sum.withLock { $0 }))
    }
    func importState(_ state: CounterState) async throws {
        events.note("import \(script.edition)")
        let taken = try await script.imported(state)
        sum.withLock { $0 = taken.sum }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.async(\.edition) { counter, _, _ in counter.script.edition }
        table.sync(\.sumNow) { counter, _, _ in counter.sum.withLock { $0 } }
        table.sync(\.editionNow) { counter, _, _ in counter.script.edition }
        table.sync(\.actNow) { counter, text, _ in try counter.script.actNow(counter, text) }
        table.async(\.act) { counter, text, call in try await counter.script.act(counter, text, call) }
    }
}

/// The events of the counters of one key, and the script of those that are created next.
final class CounterEvents: Sendable {
    private static let all = Mutex<[String: CounterEvents]>([:])
    let key = UUID().uuidString
    private let current: Mutex<CounterScript>
    private let events = Recording<String>()

    init(_ script: CounterScript = CounterScript()) {
        current = Mutex(script)
        let own = self
        Self.all.withLock { $0[key] = own }
    }

    static func of(_ key: String) -> CounterEvents { all.withLock { $0[key] } ?? CounterEvents() }

    var script: CounterScript { current.withLock(\.self) }
    var all: [String] { events.all }
    func note(_ event: String) { events.add(event) }
    func until(_ isReached: @escaping @Sendable ([String]) -> Bool) async throws { try await events.until(isReached) }
    /// Those that are made from now on do this.
    func next(_ script: CounterScript) { current.withLock { $0 = script } }
}

/// A host of counters that are swapped for other editions of their plugin.
struct CounterHost {
    static let plugin = "org.backplane.tests.counters"
    let test: TestHost
    let counters: [String: CounterEvents]
    var host: PluginHost { test.host }

    /// - Parameters:
    ///   - wires: of each counter, the one that it calls.
    ///   - others: managers of other plugins.
    ///   - linked, libraries: those plugins; libraries lie in `folder`.
    ///   - sections: further members of the manifest.
    init(
        _ names: [String] = ["Counter"], wires: [String: String] = [:], lanes: LaneRule = .fastest,
        script: CounterScript = CounterScript(),
        others: [String: ManifestValue] = [:], linked: [LinkedPlugin] = [], libraries: [String] = [],
        sections: [String: ManifestValue] = [:], in folder: TestFolder? = nil,
        stopLimit: Duration = .seconds(10),
        options change: (inout HostOptions) -> Void = { _ in }
    ) throws {
        var counters: [String: CounterEvents] = [:]
        for name in names { counters[name] = CounterEvents(script) }
        self.counters = counters
        var managers = others
        for name in names {
            var value: [String: ManifestValue] = [
                "className": "StatefulCounter", "configuration": ["key": .string(counters[name]!.key)],
            ]
            if let next = wires[name] { value["uses"] = ["next": .string(next)] }
            managers[name] = .dictionary(value)
        }
        let members: [String: ManifestValue] = [
            "manifestVersion": 1, "plugins": .array(libraries.map { ["library": .string($0)] }),
            "managers": .dictionary(managers),
        ]
        let manifest = ManifestValue.dictionary(members.merging(sections) { first, _ in first })
        test = try TestHost(
            String(decoding: manifest.json, as: UTF8.self), linked: [Self.edition("1.0.0")] + linked, in: folder,
            lanes: lanes, stopLimit: stopLimit, change)
    }

    static func edition(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: plugin, version: version) { $0.add(StatefulCounter.self) }
    }

    func counter(_ name: String = "Counter") async throws(BackplaneError) -> Remote<Counting> {
        try await host.manager(name)
    }

    /// Counters that are made from now on do this: also those that take back the state of others, of whatever edition
    /// their plugin is.
    func next(_ script: CounterScript) {
        for counter in counters.values { counter.next(script) }
    }

    /// Activates another edition of the plugin, whose counters do this.
    @discardableResult
    func swap(
        _ script: CounterScript, _ options: ChangeOptions = .patient,
        progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        next(script)
        return try await swap(linked: [Self.edition(Version(script.edition))], options, progress: report)
    }

    /// The same with plugins as they are.
    @discardableResult
    func swap(
        linked: [LinkedPlugin], _ options: ChangeOptions = .patient,
        progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        try await host.swap(linked: linked, options, progress: report)
    }
}

extension CounterHost {
    /// Expects that completed swaps left nothing behind but what is active.
    ///
    /// - Parameters:
    ///   - slots: of each counter, those that lead to it.
    ///   - inFlight: of each, the calls that nobody waits for any more.
    func expectNothingLeft(
        slots: [String: Int], inFlight: [String: Int] = [:], _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let coordinator = host.coordinator
        await eventually(location) { await !coordinator.hasRetirements }
        let nodes = await coordinator.nodeCounts
        #expect(nodes.known == nodes.active, "guests", sourceLocation: location)
        #expect(nodes.started == nodes.ready, "the order of starting", sourceLocation: location)
        #expect(await coordinator.numbersInUse == nodes.ready, "numbers", sourceLocation: location)
        for (name, count) in slots {
            let gate = try await coordinator.gate(of: name)
            #expect(gate.slotCount == count, "slots of \(name)", sourceLocation: location)
            // The thread that made a call may count it out once another has the answer.
            await eventually(location) {
                gate.callsInFlight == inFlight[name] ?? 0 && gate.callsAside == 0 && gate.callsWaiting == 0
            }
        }
    }
}

extension CounterEvents {
    var left: [Int: Int] { all.left }
}

extension [String] {
    /// How many there are of each edition, made and not gone.
    var left: [Int: Int] {
        var left: [Int: Int] = [:]
        for event in self {
            let words = event.split(separator: " "), edition = words.last.flatMap { Int($0) } ?? 0
            if words.first == "made" { left[edition, default: 0] += 1 }
            if words.first == "gone" { left[edition, default: 0] -= 1 }
        }
        return left.filter { $0.value != 0 }
    }
}

/// Tasks that count by calling again and again: each answer has to be one more than the previous one.
final class Callers: Sendable {
    private struct State {
        var isOver = false
        var last: [Int] = []
        var complaints: [String] = []
        var tasks: [Task<Void, Never>] = []
        var answers = 0
    }
    private let state = Mutex(State())

    /// Begins one more caller.
    func begin(_ call: @escaping @Sendable () async throws -> Int) {
        state.withLock { state in
            let place = state.last.count
            state.last.append(0)
            state.tasks.append(Task { await run(place, call) })
        }
    }

    private func run(_ place: Int, _ call: @Sendable () async throws -> Int) async {
        while !state.withLock({ $0.isOver }) {
            do {
                let answer = try await call()
                state.withLock { state in
                    if answer != state.last[place] + 1 {
                        state.complaints.append("\(answer) after \(state.last[place])")
                    }
                    state.last[place] = answer
                    state.answers += 1
                }
            } catch {
                state.withLock { $0.complaints.append("\(error)") }
            }
            await Task.yield()
        }
    }

    /// What each was answered last.
    var last: [Int] { state.withLock { $0.last } }
    var answers: Int { state.withLock { $0.answers } }

    /// Ends them all, and gives what was wrong.
    func end() async -> [String] {
        let tasks = state.withLock { state in
            state.isOver = true
            return state.tasks
        }
        for task in tasks { await task.value }
        return state.withLock { $0.complaints }
    }
}

/// Set once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

extension PluginHost {
    /// Activates other editions of plugins that are linked into this program.
    @discardableResult
    func swap(
        linked: [LinkedPlugin], applying document: ManifestDocument? = nil, _ options: ChangeOptions = .patient,
        progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        let coordinator = coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: linked, applying: document, options, progress: report)
        }
    }
}
