import Backplane
import BackplaneDocuments
import FoundationEssentials
import Synchronization

@testable import BackplaneHost

/// What a till does in each edition of its plugin: tests say it, step by step.
struct TillScript: Sendable {
    typealias Step = @Sendable (TillManager.Context) async throws -> Void
    var edition = 1
    var made: Step = { _ in }
    var activated: Step = { _ in }
    var suspended: Step = { _ in }
    var resumed: Step = { _ in }
    var exported: @Sendable (TillState) async throws -> TillState = { $0 }
    var imported: @Sendable (TillState) async throws -> TillState = { $0 }
    var health: @Sendable () async throws -> Void = {}
    var act: @Sendable (TillManager, String, Call) async throws -> String = { _, text, _ in text }
    var actNow: @Sendable (TillManager, String) throws -> String = { _, text in text }
    // Of a kiosk.
    var built: @Sendable () async throws -> Void = {}
    var opened: @Sendable () async throws -> Void = {}
    var shut: @Sendable () async throws -> Void = {}
    var serve: @Sendable (String) async throws -> String = { $0 }
}

struct TillState: Codable, Sendable {
    var sum = 0
}

struct Tills: Contract {
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
final class TillManager: Manager, StatefulComponent {
    typealias Provides = Tills
    typealias State = TillState
    struct Configuration: Decodable, Sendable {
        var key: String
    }
    struct Wires: Wiring {
        let next: Wire<Tills>?
    }
    static let stateSchema = StateSchema(name: "till")
    let context: Context
    let script: TillScript
    let events: TillEvents
    let sum = Mutex(0)

    init(_ context: Context) async throws {
        self.context = context
        events = TillEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.made(context)
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
    func exportState() async throws -> TillState {
        events.note("export \(script.edition)")
        return try await script.exported(TillState(sum: sum.withLock { $0 }))
    }
    func importState(_ state: TillState) async throws {
        events.note("import \(script.edition)")
        let taken = try await script.imported(state)
        sum.withLock { $0 = taken.sum }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { till, number, _ in
            till.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.async(\.edition) { till, _, _ in till.script.edition }
        table.sync(\.sumNow) { till, _, _ in till.sum.withLock { $0 } }
        table.sync(\.editionNow) { till, _, _ in till.script.edition }
        table.sync(\.actNow) { till, text, _ in try till.script.actNow(till, text) }
        table.async(\.act) { till, text, call in try await till.script.act(till, text, call) }
    }
}

/// What happened to the tills of one key, and the script of those that are made next.
final class TillEvents: Sendable {
    private static let all = Mutex<[String: TillEvents]>([:])
    let key = UUID().uuidString
    private let state: Mutex<(script: TillScript, events: [String])>

    init(_ script: TillScript = TillScript()) {
        state = Mutex((script, []))
        let own = self
        Self.all.withLock { $0[key] = own }
    }

    static func of(_ key: String) -> TillEvents { all.withLock { $0[key] } ?? TillEvents() }

    var script: TillScript { state.withLock { $0.script } }
    var all: [String] { state.withLock { $0.events } }
    func note(_ event: String) { state.withLock { $0.events.append(event) } }
    func clear() { state.withLock { $0.events = [] } }
    /// Those that are made from now on do this.
    func next(_ script: TillScript) { state.withLock { $0.script = script } }
}

/// A host of tills that are swapped for other editions of their plugin.
struct TillHost {
    static let plugin = "org.backplane.tests.tills"
    let test: TestHost
    let tills: [String: TillEvents]
    var host: PluginHost { test.host }

    /// - Parameters:
    ///   - wires: of each till, the one that it calls.
    ///   - others: managers of other plugins.
    ///   - linked, libraries: those plugins; libraries lie in `folder`.
    init(
        _ names: [String] = ["Till"], wires: [String: String] = [:], lanes: LaneRule = .fastest,
        script: TillScript = TillScript(),
        others: [String: ManifestValue] = [:], linked: [LinkedPlugin] = [], libraries: [String] = [],
        in folder: LoadingFixture.Folder? = nil, stopLimit: Duration = .seconds(3),
        options change: (inout HostOptions) -> Void = { _ in }
    ) throws {
        var tills: [String: TillEvents] = [:]
        for name in names { tills[name] = TillEvents(script) }
        self.tills = tills
        var managers = others
        for name in names {
            var value: [String: ManifestValue] = [
                "className": "TillManager", "configuration": ["key": .string(tills[name]!.key)],
            ]
            if let next = wires[name] { value["uses"] = ["next": .string(next)] }
            managers[name] = .dictionary(value)
        }
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": .array(libraries.map { ["library": .string($0)] }),
            "managers": .dictionary(managers),
        ]
        test = try TestHost(
            String(decoding: manifest.json, as: UTF8.self), linked: [Self.edition("1.0.0")] + linked, in: folder,
            lanes: lanes, stopLimit: stopLimit, change)
    }

    static func edition(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: plugin, version: version) { $0.add(TillManager.self) }
    }

    func till(_ name: String = "Till") async throws(BackplaneError) -> Remote<Tills> { try await host.manager(name) }

    /// Tills that are made from now on do this: also those that take back the state of others, of whatever edition their plugin is.
    func next(_ script: TillScript) {
        for till in tills.values { till.next(script) }
    }

    /// Puts another edition of the plugin in force, whose tills do this.
    @discardableResult
    func swap(_ script: TillScript, _ options: SwapOptions = SwapOptions(drainLimit: .seconds(60)))
        async throws(BackplaneError) -> SwapReport
    {
        next(script)
        return try await swap(linked: [Self.edition(Version(script.edition))], options)
    }

    /// The same with plugins as they are.
    @discardableResult
    func swap(linked: [LinkedPlugin], _ options: SwapOptions = SwapOptions(drainLimit: .seconds(60)))
        async throws(BackplaneError) -> SwapReport
    {
        let coordinator = host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: linked, options)
        }
    }
}
