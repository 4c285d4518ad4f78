import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Layers that somebody waits for while their plugin is swapped.
@Suite(.timeLimit(.minutes(5)))
struct SwapLayersTests {
    private static let others = [
        LinkedPlugin(EditionReaderPlugin.self), LinkedPlugin(ScriptedPlugin.self), EditionStorePlugin.edition(),
    ]

    /// A manager of a class that does not ask for the layer that the manifest gives it, and a counter.
    private static func manager(_ layer: CounterEvents) -> ManifestValue {
        guard case .dictionary(var value) = ScriptedPlugin.Part().value else { return [:] }
        value["dataAccessController"] = EditionStorePlugin.layer(layer)
        return .dictionary(value)
    }

    @Test func `one that is starting comes up before its plugin is swapped, and is swapped with it`() async throws {
        let building = TestGate(),
            events = CounterEvents(CounterScript(built: { await building.passThoughCancelled() }))
        let counters = try CounterHost(
            ["Counter"],
            others: [
                "EditionReader": [
                    "className": "EditionReader", "dataAccessController": EditionStorePlugin.layer(events),
                ]
            ],
            linked: Self.others)
        let reader = Task { () async throws -> Remote<Editions> in try await counters.host.manager("EditionReader") }
        try await building.arrivals()
        let swap = Task { try await counters.swap(linked: [EditionStorePlugin.edition("2.0.0")]) }
        await eventually { await counters.host.coordinator.isTurnTaken }
        events.next(CounterScript(edition: 2))
        building.open()
        #expect(try await swap.value.components.map(\.component) == ["EditionStore"])
        #expect(try await reader.value.edition() == 2)
        try await events.until { $0 == ["made 1", "made 2", "gone 1"] }
        await counters.host.stop()
    }
}
