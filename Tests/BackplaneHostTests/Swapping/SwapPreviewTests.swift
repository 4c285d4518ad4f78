import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// What a swap would do, asked while something else is done.
@Suite(.timeLimit(.minutes(5)))
struct SwapPreviewTests {
    private let folder: LoadingFixture.Folder
    /// Another build of the relay.
    private let library: String

    init() throws {
        folder = try RelayPlugin.folder()
        _ = try folder.makeFolder("next")
        library = try folder.write(RelayPlugin.library("-O1"), as: "next/libRelay.so")
    }

    private func host(_ others: [String: ManifestValue]) throws -> TillHost {
        try TillHost(others: others, linked: [LinkedPlugin(ScriptedPlugin.self)], libraries: ["Relay"], in: folder)
    }

    /// The same host's manifest with other managers beside its till.
    private func document(_ tills: TillHost, _ others: [String: ManifestValue]) -> ManifestDocument {
        let till: ManifestValue = [
            "className": "TillManager", "configuration": ["key": .string(tills.tills["Till"]!.key)],
        ]
        return ManifestDocument(
            [
                "manifestVersion": 1, "plugins": [["library": "Relay"]],
                "managers": .dictionary(others.merging(["Till": till]) { own, _ in own }),
            ])
    }

    @Test func `one that is asked for while another manifest comes into force is about that one`() async throws {
        let stopping = Turnstile(), slow = Script(stopped: { _ in await stopping.pass() })
        let tills = try host(["Relay": RelayPlugin.manager(), "Slow": ScriptedPlugin.Part(script: slow).value]),
            coordinator = tills.host.coordinator
        try await tills.host.start()
        let document = document(tills, ["Relay": RelayPlugin.manager(), "Second": RelayPlugin.manager()])
        let apply = Task { try await tills.host.apply(document) }
        await eventually { stopping.arrived == 1 }
        let preview = Task { try await tills.host.previewSwap([library]) }
        await eventually { await coordinator.waitingTurns == 1 }
        stopping.open()
        #expect(
            try await apply.value
                == ManifestChange(before: ["Till", "Relay", "Slow"], after: ["Till", "Relay", "Second"], remade: []))
        let seen = try await preview.value
        #expect(seen.refusals == [] && seen.components.map(\.component).sorted() == ["Relay", "Second"], "\(seen)")
        #expect(seen.plugins.map { [$0.fromGeneration, $0.toGeneration] } == [[1, 2]])
        #expect(try await tills.host.generations(of: "org.example.relay").map(\.state) == [.inForce, .loaded])
        let swapped = try await tills.host.swap(library: library)
        #expect(
            swapped.components.map(\.component) == seen.components.map(\.component)
                && swapped.plugins.map(\.toGeneration) == [3])
        await tills.host.stop()
    }

    @Test func `one that is asked for on probation leaves it be, and another manifest ends it`() async throws {
        let tills = try host(["Relay": RelayPlugin.manager()]), till = try await tills.till(),
            relay: Remote<Tills> = try await tills.host.manager("Relay")
        _ = try await relay.add(5)
        let options = SwapOptions(
            probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)), drainLimit: .seconds(60))
        let swap = Task { try await tills.swap(TillScript(edition: 2), options) }
        func states() async throws -> [Generation.State] {
            try await tills.host.generations(of: TillHost.plugin).map(\.state)
        }
        try await eventually { try await states() == [.retired, .onProbation] }
        let seen = try await tills.host.previewSwap([library])
        #expect(seen.refusals == [] && seen.components.map(\.component) == ["Relay"])
        #expect(try await states() == [.retired, .onProbation])

        let document = document(tills, ["Relay": RelayPlugin.manager(), "Second": RelayPlugin.manager()])
        #expect(try await tills.host.apply(document).kept.isSuperset(of: ["Till", "Relay"]))
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await states() == [.retired, .inForce])
        #expect(try await (till.edition(), relay.add(1)) == (2, 6))
        await tills.host.stop()
    }

    @Test func `one that waits for a swap does not wait for its probation`() async throws {
        let activating = Turnstile(), tills = try host(["Relay": RelayPlugin.manager()]),
            coordinator = tills.host.coordinator
        _ = try await tills.till()
        let options = SwapOptions(
            probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)), drainLimit: .seconds(60))
        let swap = Task {
            try await tills.swap(TillScript(edition: 2, activated: { _ in await activating.pass() }), options)
        }
        await eventually { activating.arrived == 1 }
        let preview = Task { try await tills.host.previewSwap([library]) }
        await eventually { await coordinator.waitingTurns == 1 }
        activating.open()
        #expect(try await preview.value.refusals == [])
        #expect(try await tills.host.generations(of: TillHost.plugin).map(\.state) == [.retired, .onProbation])
        #expect(try await tills.swap(TillScript(edition: 3)).outcome == .swapped)
        #expect(try await swap.value.outcome == .swapped)
        await tills.host.stop()
    }
}
