import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// What an old instance waits for before it is given up.
@Suite(.timeLimit(.minutes(5)))
struct SwapReleaseTests {
    private func generations(_ tills: TillHost) async throws -> [[String]] {
        try await tills.host.generations(of: KioskPlugin.id).map { $0.heldBy.filter { $0 != "kept for a rollback" } }
    }

    @Test func `a call whose caller is gone keeps the instance it is in, and no later one`() async throws {
        let never = Turnstile(),
            events = TillEvents(
                TillScript(serve: { text in
                    await never.pass()
                    return text
                }))
        let tills = try TillHost(
            [], others: ["Kiosk": KioskPlugin.manager("Kiosk", events), "Errand": ErrandPlugin.manager("Kiosk")],
            linked: [KioskPlugin.edition(), ErrandPlugin.edition()])
        let errand: Remote<Errands> = try await tills.host.manager("Errand")
        // A call of its own, that goes on when whoever made it has been swapped and is gone.
        _ = try await errand.begin("stay")
        await eventually { never.arrived == 1 }
        try await tills.swap(linked: [ErrandPlugin.edition("2.0.0")])
        try await tills.expectNothingLeft(slots: ["Kiosk": 1], inFlight: ["Kiosk": 1])

        events.next(TillScript(edition: 2))
        try await tills.swap(linked: [KioskPlugin.edition("2.0.0")])
        #expect(try await generations(tills) == [["1 call in Kiosk that has not ended"], ["active: Kiosk"]])
        #expect(!events.all.contains("suspend 1"))
        events.next(TillScript(edition: 3))
        try await tills.swap(linked: [KioskPlugin.edition("3.0.0")])
        await eventually { events.all.contains("gone 2") }
        #expect(!events.all.contains("suspend 1"), "the call is still in it")
        #expect(try await tills.gate("Kiosk").callsInFlight == 0, "and none of those that changes wait for")
        never.open()
        await eventually { events.all.suffix(2) == ["suspend 1", "gone 1"] }
        #expect(await tills.host.statistics.first { $0.component == "Kiosk" }?.calls == 1)
        try await tills.expectNothingLeft(slots: ["Kiosk": 1])
        await tills.host.stop()
    }
}

/// A plugin whose manager begins calls that nobody waits for.
enum ErrandPlugin {
    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.errands", version: version) { $0.add(Errand.self) }
    }

    static func manager(_ kiosk: String) -> ManifestValue {
        ["className": "Errand", "uses": ["kiosk": .string(kiosk)]]
    }
}

struct Errands: Contract {
    static let version: Version = "1.0.0"
    /// Has the kiosk serve, and does not wait for it.
    let begin = AsyncMethod<String, Nothing>()
}

final class Errand: Manager {
    typealias Provides = Errands
    struct Wires: Wiring {
        let kiosk: Wire<Kiosks>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { errand, text, _ in
            errand.context.tasks.run { [context = errand.context] in
                _ = try? await context.wires.kiosk.serve(text, context.begin())
            }
            return Nothing()
        }
    }
}
