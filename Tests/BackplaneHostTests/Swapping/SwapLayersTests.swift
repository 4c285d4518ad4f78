import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// Layers that somebody waits for while their plugin is swapped.
@Suite(.timeLimit(.minutes(5)))
struct SwapLayersTests {
    private static let others = [
        LinkedPlugin(ShopPlugin.self), LinkedPlugin(ScriptedPlugin.self), DrawerPlugin.edition(),
    ]

    /// A manager of a class that does not ask for the layer that the manifest gives it, and a till.
    private static func manager(_ layer: TillEvents) -> ManifestValue {
        guard case .dictionary(var value) = ScriptedPlugin.Part().value else { return [:] }
        value["dataAccessController"] = DrawerPlugin.layer(layer)
        return .dictionary(value)
    }

    @Test func `one that is starting comes up before its plugin is swapped, and is swapped with it`() async throws {
        let building = Turnstile(), events = TillEvents(TillScript(built: { await building.pass() }))
        let tills = try TillHost(
            ["Till"], others: ["Shop": ["className": "Shop", "dataAccessController": DrawerPlugin.layer(events)]],
            linked: Self.others)
        let shop = Task { () async throws -> Remote<Drawers> in try await tills.host.manager("Shop") }
        await eventually { building.arrived == 1 }
        let swap = Task { try await tills.swap(linked: [DrawerPlugin.edition("2.0.0")]) }
        await eventually { await tills.host.coordinator.isTurnTaken }
        events.next(TillScript(edition: 2))
        building.open()
        #expect(try await swap.value.components.map(\.component) == ["Drawer"])
        #expect(try await shop.value.edition() == 2)
        await eventually { events.all == ["made 1", "made 2", "gone 1"] }
        await tills.host.stop()
    }

    @Test func `one that is missing, and awaited while its plugin is swapped, comes up from the new code`() async throws
    {
        let suspending = Turnstile(), first = TillEvents(),
            second = TillEvents(TillScript(built: { throw BackplaneError(.componentFailed, "ill") }))
        let manager = Self.manager(first), script = TillScript(suspended: { _ in await suspending.pass() })
        let tills = try TillHost(script: script, others: ["Manager": manager], linked: Self.others)
        try await tills.host.start()
        // It goes on without the layer that it does not ask for, and that does not come up.
        guard case .dictionary(var changed) = manager else { return }
        changed["dataAccessController"] = DrawerPlugin.layer(second)
        let till: ManifestValue = [
            "className": "TillManager", "configuration": ["key": .string(tills.tills["Till"]!.key)],
        ]
        let document = ManifestDocument([
            "manifestVersion": 1, "plugins": [], "managers": ["Manager": .dictionary(changed), "Till": till],
        ])
        #expect(await error { try await tills.host.apply(document) } != nil)
        #expect(await tills.host.managers.map { "\($0.state)" } == ["ready", "ready"])
        #expect(second.all == ["made 1", "gone 1"])

        tills.next(TillScript(edition: 2))
        second.next(TillScript(edition: 2))
        let swap = Task { try await tills.swap(linked: [DrawerPlugin.edition("2.0.0"), TillHost.edition("2.0.0")]) }
        await eventually { suspending.arrived == 1 }
        let start = Task { try await tills.host.start() }
        await eventually { await tills.host.coordinator.isAwaited }
        #expect(second.all == ["made 1", "gone 1"], "not from the old code")
        suspending.open()
        #expect(try await swap.value.components.map(\.component) == ["Till"])
        try await start.value
        #expect(second.all == ["made 1", "gone 1", "made 2"])
        await tills.host.stop()
    }
}
