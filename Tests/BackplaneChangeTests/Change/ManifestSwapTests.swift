import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Swaps that activate another manifest together with code, with libraries from disk and callers meanwhile.
@Suite(.timeLimit(.minutes(5)))
struct ManifestSwapTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]
    private static let turnstile: ManifestValue = ["className": "TurnstileManager"]
    private static let one: ManifestValue = ["Turnstile": turnstile]

    /// Swaps while four visitors pass, and expects that none of them notices.
    private func whileVisited(
        _ fixture: AnnexFixture, _ manager: String = "Turnstile", _ body: () async throws -> Void
    ) async throws {
        let remote = try await fixture.manager(manager)
        let (_, visits) = try await TurnstileVisitors.with(remote) {
            let before = try await remote.pass(0)
            try await body()
            let after = try await remote.pass(0)
            #expect(after.own == before.own + 1, "the state went along")
        }
        #expect(visits.flatMap(\.mistakes) == [])
        #expect(visits.allSatisfy { $0.last != nil }, "all of them came to pass")
    }

    @Test(arguments: lanes)
    func `a class is renamed with its manifest, its state goes along, and callers notice nothing`(lanes: LaneRule)
        async throws
    {
        let fixture = try await AnnexFixture(Self.one, [AnnexFixture.first], lanes: lanes)
        try await whileVisited(fixture) {
            let report = try await fixture.swap(["Turnstile": ["className": "BarrierManager"]])
            #expect(report.components.map(\.className) == ["BarrierManager"])
            #expect(report.components.first?.state?.fromVersion == 1 && report.components.first?.state?.lost == nil)
            #expect(report.managers.restarted == ["Turnstile"])
            #expect(report.plugins.map(\.plugin) == [AnnexFixture.annexPlugin])
            #expect(report.plugins.map(\.fromGeneration) == [0], "the manifest did not have it")
        }
        await fixture.host.stop()
    }

    @Test(arguments: lanes)
    func `a manager is renamed, and those who hold it go on to call it`(lanes: LaneRule) async throws {
        let fixture = try await AnnexFixture(Self.one, lanes: lanes), before = try await fixture.manager("Turnstile")
        let renamed: ManifestValue = ["Gate": ["className": "TurnstileManager", "was": "Turnstile"]]
        try await whileVisited(fixture) {
            let report = try await fixture.swap(renamed)
            #expect(report.components.map(\.component) == ["Gate"] && report.components[0].formerName == "Turnstile")
            #expect(report.managers.restarted == ["Gate"] && report.managers.stopped == [])
        }
        let gate = try await fixture.manager("Gate")
        let (held, found) = (try await before.pass(9), try await gate.pass(9))
        #expect((held.own, found.own) == (1, 2), "one and the same")
        #expect(await error { try await fixture.manager("Turnstile") }?.code == .unknownManager)
        #expect(try await fixture.test.call("Gate", "pass", "9").contains(#""own":3"#))
        #expect(await fixture.host.wires.allSatisfy { $0.provider == "Gate" })

        let again = try await fixture.swap(renamed)
        #expect(again.outcome == .unchanged, "`was` is followed once")
        try await fixture.swap(["Gate": Self.turnstile])
        #expect(try await gate.pass(9).own == 4, "and is not needed afterwards")
        await fixture.host.stop()
    }

    @Test(arguments: lanes)
    func `a manager moves to another plugin and back with a rollback, and libraries come and go`(lanes: LaneRule)
        async throws
    {
        let fixture = try await AnnexFixture(Self.one, [AnnexFixture.first], lanes: lanes)
        try await whileVisited(fixture) {
            let report = try await fixture.swap(Self.one, [AnnexFixture.annex])
            #expect(report.outcome == .changed && report.managers.restarted == ["Turnstile"])
        }
        func states(_ plugin: String) async throws -> [Generation.State] {
            try await fixture.host.generations(of: plugin).map(\.state)
        }
        #expect(try await states(AnnexFixture.firstPlugin) == [.retired])
        #expect(try await states(AnnexFixture.annexPlugin) == [.active])
        // The visitors know only of two handovers of the state, and of the editions' turns.
        let turnstile = try await fixture.manager("Turnstile"), before = try await turnstile.pass(7)
        let back = try await fixture.host.rollback(plugin: AnnexFixture.annexPlugin, AnnexFixture.options)
        #expect(back.managers.restarted == ["Turnstile"])
        #expect(try await states(AnnexFixture.firstPlugin) == [.active])
        #expect(try await states(AnnexFixture.annexPlugin) == [.retired])
        let after = try await turnstile.pass(7)
        #expect(after.own == before.own + 1 && after.handovers == 2 && after.edition == 1)
        try await fixture.host.rollback(plugin: AnnexFixture.firstPlugin, AnnexFixture.options)
        #expect(try await turnstile.pass(7).own == before.own + 2, "and forth again")
        #expect(try await states(AnnexFixture.annexPlugin) == [.active])
        await fixture.host.stop()
    }

    @Test(arguments: lanes)
    func `a wire comes with its use and goes with it`(lanes: LaneRule) async throws {
        let usher: ManifestValue = ["className": "UsherManager"]
        let wired: ManifestValue = ["className": "UsherManager", "uses": ["turnstile": "Turnstile"]]
        let fixture = try await AnnexFixture(["Turnstile": Self.turnstile, "Usher": usher], lanes: lanes)
        let through = try await fixture.manager("Usher")
        #expect(try await through.pass(5).count == 0)
        try await whileVisited(fixture) {
            let report = try await fixture.swap(["Turnstile": Self.turnstile, "Usher": wired])
            #expect(report.components.map(\.component) == ["Usher"], "the turnstile stays")
            #expect(report.components.map(\.action) == [.recreated])
            #expect(try await through.pass(5).own == 1)
            try await fixture.swap(["Turnstile": Self.turnstile, "Usher": usher])
            #expect(try await through.pass(5).count == 0)
            try await fixture.swap(["Gate": ["className": "TurnstileManager", "was": "Turnstile"], "Usher": usher])
            try await fixture.swap(["Turnstile": Self.turnstile, "Usher": wired])
            #expect(try await through.pass(5).own == 2)
        }
        await fixture.host.stop()
    }

    // MARK: What would be lost

    private static let losses: [(managers: ManifestValue, words: String)] = [
        (
            ["Usher": ["className": "UsherManager"]],
            "the state of Turnstile has no successor in the manifest; write `\"was\": \"Turnstile\"` where another continues it, or discard the state (`ChangeOptions.discardsState`)"
        ),
        (
            ["Gate": ["className": "TurnstileManager"]],
            "the state of Turnstile has no successor in the manifest; write `\"was\": \"Turnstile\"` where another continues it, or discard the state (`ChangeOptions.discardsState`)"
        ),
        (
            ["Turnstile": ["className": "WicketManager"]],
            "the state of Turnstile cannot be carried over: its schema is `TurnstileManager`, but that of the new code is `WicketManager`; give the new code a migration, or discard the state (`ChangeOptions.discardsState`)"
        ),
        (
            ["Turnstile": ["className": "UsherManager"]],
            "the state of Turnstile cannot be carried over: the new code has no state; give the new code a migration, or discard the state (`ChangeOptions.discardsState`)"
        ),
    ]

    @Test(arguments: losses)
    func `state that cannot be carried is named before it is lost, and lost if that is meant`(
        managers: ManifestValue, words: String
    ) async throws {
        let fixture = try await AnnexFixture(Self.one), turnstile = try await fixture.manager("Turnstile")
        #expect(try await turnstile.pass(1).own == 1)
        let refusal = await error { try await fixture.swap(managers) }
        #expect(refusal?.code == .swapRefused && refusal?.causes.map(\.message) == [words])
        let applied = await error { try await fixture.host.apply(AnnexFixture.document(managers)) }
        #expect(applied?.code == .swapRefused && applied?.causes.map(\.message) == [words])
        let preview = try await fixture.host.preview(
            [], applying: AnnexFixture.document(managers), AnnexFixture.options)
        #expect(preview.refusals.map(\.message) == [words])
        #expect(try await turnstile.pass(1).own == 2, "nothing has changed")
        #expect(await fixture.states == ["Turnstile ready"])

        let report = try await fixture.swap(managers) { $0.discardsState = true }
        let reported = report.warnings + report.components.compactMap { $0.state?.lost }
        #expect(!reported.isEmpty, "and what was lost is reported")
        await fixture.host.stop()
    }
}
