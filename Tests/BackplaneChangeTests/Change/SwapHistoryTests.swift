import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What is known of generations, and the way back to older ones.
@Suite(.timeLimit(.minutes(5)))
struct SwapHistoryTests {
    @Test func `each of the last generations can be gone back to, with the state of now`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        for edition in 2...12 { try await counters.swap(CounterScript(edition: edition)) }
        await eventually { await !counters.host.coordinator.hasRetirements }
        let all = try await counters.host.generations(of: CounterHost.plugin)
        #expect(all.map(\.number) == Array(1...12) && all.map(\.version.major) == Array(1...12))
        #expect(all.map(\.canReturn) == (1...12).map { (4...11).contains($0) }, "the last \(GenerationTable.kept)")
        #expect(all.last?.state == .active && all.last?.heldBy == ["active: Counter"])
        #expect(all[5].heldBy == ["kept for a rollback"])
        var sum = 0
        for number in 4...11 {
            sum = try await counter.add(1)
            let report = try await counters.host.rollback(plugin: CounterHost.plugin, to: number)
            #expect(report.plugins.map(\.toGeneration) == [number])
            #expect(try counter.sumNow() == sum)
            let now = try await counters.host.generations(of: CounterHost.plugin)
            #expect(now.filter { $0.state == .active }.map(\.number) == [number] && now.count == 12)
        }
        await counters.host.stop()
    }

    @Test func `without a number it is the previously active one`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        let none = await error { try await counters.host.rollback(plugin: CounterHost.plugin) }
        #expect(
            none?.code == .swapRefused
                && none?.message == "\(CounterHost.plugin) has no retired generation; there is none to roll back to")
        try await counters.swap(CounterScript(edition: 2))
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        let wrong = await error { try await counters.host.rollback(plugin: CounterHost.plugin, to: 7) }
        #expect(wrong?.message == "\(CounterHost.plugin) has no retired generation 7; retired generations: 1")
        let stranger = await error { try await counters.host.rollback(plugin: "org.nobody") }
        #expect(stranger?.code == .pluginUnknown)
        #expect(try await counter.add(1) == 1)
        await counters.host.stop()
    }

    private static let ill: @Sendable () async throws -> Void = { throw BackplaneError(.componentFailed, "ill") }
    private static let trial = ChangeOptions(
        probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)),
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))

    @Test func `only committed generations are rolled back to`() async throws {
        let counters = try CounterHost()
        _ = try await counters.counter()
        try await counters.swap(CounterScript(edition: 2))
        #expect(
            await error {
                try await counters.swap(CounterScript(edition: 3, activated: { _ in try await Self.ill() }))
            }?.code
                == .swapFailed)
        let report = try await counters.swap(
            CounterScript(
                edition: 4,
                health: {
                    counters.next(CounterScript(edition: 2))
                    try await Self.ill()
                }), Self.trial)
        #expect(report.outcome == .rolledBack)
        let all = try await counters.host.generations(of: CounterHost.plugin)
        #expect(
            all.map(\.state) == [.retired, .active, .failed, .failed]
                && all.map(\.canReturn) == [true, false, false, false])
        for number in [3, 4] {
            let refusal = await error { try await counters.host.rollback(plugin: CounterHost.plugin, to: number) }
            #expect(
                refusal?.message == "\(CounterHost.plugin) has no retired generation \(number); retired generations: 1")
        }
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        await counters.host.stop()
    }

    @Test func `one that failed its probation when it came back is gone back to by its number alone`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        for edition in 2...3 { try await counters.swap(CounterScript(edition: edition)) }
        /// Goes back to the first, which is not well.
        func fail() async throws {
            counters.next(
                CounterScript(health: {
                    counters.next(CounterScript(edition: 3))
                    try await Self.ill()
                }))
            #expect(
                try await counters.host.rollback(plugin: CounterHost.plugin, to: 1, Self.trial).outcome == .rolledBack)
            #expect(try await counter.edition() == 3)
        }
        try await fail()
        #expect(try await counters.host.generations(of: CounterHost.plugin).map(\.canReturn) == [true, true, false])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        #expect(
            try await counters.host.rollback(plugin: CounterHost.plugin, to: 1).plugins.map(\.toGeneration) == [1],
            "this time it is well")
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        #expect(
            try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1],
            "and so it is as good as the others")
        await counters.host.stop()
    }
}

/// What a swap would do, asked while something else is done.
@Suite(.timeLimit(.minutes(5)))
struct SwapPreviewTests {
    private let folder: TestFolder
    /// Another build of the relay.
    private let library: String

    init() throws {
        folder = try RelayPlugin.folder()
        _ = try folder.makeFolder("next")
        library = try folder.write(RelayPlugin.library(build: 2), as: "next/libRelay.so")
    }

    private func host(_ others: [String: ManifestValue]) throws -> CounterHost {
        try CounterHost(others: others, linked: [LinkedPlugin(ScriptedPlugin.self)], libraries: ["Relay"], in: folder)
    }

    /// The same host's manifest with other managers beside its counter.
    private func document(_ counters: CounterHost, _ others: [String: ManifestValue]) -> ManifestDocument {
        let counter: ManifestValue = [
            "className": "StatefulCounter", "configuration": ["key": .string(counters.counters["Counter"]!.key)],
        ]
        return ManifestDocument(
            [
                "manifestVersion": 1, "plugins": [["library": "Relay"]],
                "managers": .dictionary(others.merging(["Counter": counter]) { own, _ in own }),
            ])
    }

    @Test func `one that is asked for while another manifest comes into force is about that one`() async throws {
        let stopping = TestGate(), slow = Script(stopped: { _ in await stopping.passThoughCancelled() })
        let counters = try host(["Relay": RelayPlugin.manager(), "Slow": ScriptedPlugin.Part(script: slow).value]),
            coordinator = counters.host.coordinator
        try await counters.host.start()
        let document = document(counters, ["Relay": RelayPlugin.manager(), "Second": RelayPlugin.manager()])
        let apply = Task { try await counters.host.apply(document) }
        try await stopping.arrivals()
        let preview = Task { try await counters.host.preview([library]) }
        await eventually { await coordinator.waitingTurns == 1 }
        stopping.open()
        #expect(
            try await apply.value.managers
                == ManagerChanges(
                    before: ["Counter", "Relay", "Slow"], after: ["Counter", "Relay", "Second"], remade: []))
        let seen = try await preview.value
        #expect(seen.refusals == [] && seen.components.map(\.component).sorted() == ["Relay", "Second"], "\(seen)")
        #expect(seen.plugins.map { [$0.fromGeneration, $0.toGeneration] } == [[1, 2]])
        #expect(try await counters.host.generations(of: "org.example.relay").map(\.state) == [.active, .loaded])
        let swapped = try await counters.host.swap(library: library)
        #expect(
            swapped.components.map(\.component) == seen.components.map(\.component)
                && swapped.plugins.map(\.toGeneration) == [3])
        await counters.host.stop()
    }

    @Test func `one that is asked for on probation leaves it be, and another manifest ends it`() async throws {
        let counters = try host(["Relay": RelayPlugin.manager()]), counter = try await counters.counter(),
            relay: Remote<Counting> = try await counters.host.manager("Relay")
        _ = try await relay.add(5)
        let options = ChangeOptions(
            probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)),
            drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
        let swap = Task { try await counters.swap(CounterScript(edition: 2), options) }
        func states() async throws -> [Generation.State] {
            try await counters.host.generations(of: CounterHost.plugin).map(\.state)
        }
        try await eventually { try await states() == [.retired, .onProbation] }
        let seen = try await counters.host.preview([library])
        #expect(seen.refusals == [] && seen.components.map(\.component) == ["Relay"])
        #expect(try await states() == [.retired, .onProbation])

        let document = document(counters, ["Relay": RelayPlugin.manager(), "Second": RelayPlugin.manager()])
        #expect(try await counters.host.apply(document).managers.kept.isSuperset(of: ["Counter", "Relay"]))
        #expect(try await swap.value.outcome == .changed)
        #expect(try await states() == [.retired, .active])
        #expect(try await (counter.edition(), relay.add(1)) == (2, 6))
        await counters.host.stop()
    }
}

/// Swaps that meet starts, stops, other changes and one another.
@Suite(.timeLimit(.minutes(5)))
struct SwapRaceTests {
    @Test func `two that are asked for at once are made one after the other`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        for round in 0..<20 {
            let swaps = [2, 3, 4].map { edition in
                Task { try await counters.swap(CounterScript(edition: round * 10 + edition)) }
            }
            for swap in swaps { #expect(try await swap.value.outcome == .changed) }
        }
        #expect(try counter.sumNow() == 5)
        let states = try await counters.host.generations().map(\.state)
        #expect(states.count { $0 == .active } == 1 && states.count == 61)
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        await counters.host.stop()
    }

    @Test func `a swap waits for what starts`() async throws {
        let starting = TestGate(),
            counters = try CounterHost(
                ["A", "B"], wires: ["B": "A"],
                script: CounterScript(made: { context in
                    if context.wires.next != nil { await starting.passThoughCancelled() }
                }))
        let start = Task { try await counters.host.start() }
        try await starting.arrivals()
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        starting.open()
        #expect(try await swap.value.components.map(\.component) == ["A", "B"])
        try await start.value
        #expect(try await counters.counter("B").edition() == 2)
        await counters.host.stop()
    }

    @Test func `one that is looked up while it is about to change comes up with the new code`() async throws {
        let inside = TestGate(),
            counters = try CounterHost(
                ["A", "B"], script: CounterScript(suspended: { _ in await inside.passThoughCancelled() }))
        _ = try await counters.counter("A")
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await inside.arrivals()
        let late = Task { try await counters.counter("B").edition() }
        for _ in 0..<100 { await Task.yield() }
        #expect(counters.counters["B"]!.all == [])
        inside.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(try await late.value == 2)
        await counters.host.stop()
    }

    @Test func `a reset and another manifest right behind a swap are made after it`() async throws {
        let inside = TestGate(),
            counters = try CounterHost(script: CounterScript(suspended: { _ in await inside.passThoughCancelled() })),
            counter = try await counters.counter()
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await inside.arrivals()
        let reset = Task { try await counters.host.reset("Counter") }
        inside.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(try await reset.value.managers.restarted == ["Counter"])
        #expect(try await (counter.edition(), counter.add(1)) == (2, 1), "a reset starts again, with the new code")
        #expect(try await counters.swap(CounterScript(edition: 3)).outcome == .changed)
        let empty = ManifestDocument(["manifestVersion": 1, "plugins": [], "managers": [:]])
        #expect(
            try await counters.host.apply(empty, ChangeOptions(discardsState: true)).managers.stopped == ["Counter"])
        #expect(await error { try await counter.add(1) }?.code == .unknownManager)
        await counters.host.stop()
        try await counters.counters["Counter"]!.until { $0.left == [:] }
    }

    @Test func `a reset whose new instance does not start leaves the old one`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        counters.next(CounterScript(made: { _ in throw BackplaneError(.componentFailed, "ill") }))
        let failure = await error { try await counters.host.reset("Counter") }
        #expect(
            failure?.code == .swapFailed
                && failure?.message.hasPrefix("a new instance could not be activated: prepare: ") == true,
            "\(String(describing: failure))")
        #expect(try await counter.add(1) == 6)
        counters.next(CounterScript())
        #expect(try await counters.host.reset("Counter").managers.restarted == ["Counter"])
        #expect(try await counter.add(1) == 1, "a reset does not carry state over")
        await counters.host.stop()
    }
}
