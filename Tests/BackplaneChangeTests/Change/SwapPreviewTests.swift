import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

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

    @Test func `one that waits for a swap does not wait for its probation`() async throws {
        let activating = TestGate(), counters = try host(["Relay": RelayPlugin.manager()]),
            coordinator = counters.host.coordinator
        _ = try await counters.counter()
        let options = ChangeOptions(
            probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)),
            drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
        let swap = Task {
            try await counters.swap(
                CounterScript(edition: 2, activated: { _ in await activating.passThoughCancelled() }), options)
        }
        try await activating.arrivals()
        let preview = Task { try await counters.host.preview([library]) }
        await eventually { await coordinator.waitingTurns == 1 }
        activating.open()
        #expect(try await preview.value.refusals == [])
        #expect(try await counters.host.generations(of: CounterHost.plugin).map(\.state) == [.retired, .onProbation])
        #expect(try await counters.swap(CounterScript(edition: 3)).outcome == .changed)
        #expect(try await swap.value.outcome == .changed)
        await counters.host.stop()
    }
}
