import Backplane
import BackplaneDocuments
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
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
            "the state of Turnstile cannot be carried over: its schema is `TurnstileManager`, but the new code's schema is `WicketManager`; give the new code a migration, or discard the state (`ChangeOptions.discardsState`)"
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

/// The data of data access controllers that have another name now, at a cold start and in swaps.
@Suite(.timeLimit(.minutes(5)))
struct FormerNamespaceTests {
    /// A manager whose count is in its data access controller's folder.
    private static func office(_ controller: ManifestValue) -> ManifestValue {
        ["Office": ["className": "TicketOffice", "dataAccessController": controller]]
    }

    private static let store = office(["className": "TicketStore"])
    private static let archive = office(["className": "TicketArchive", "was": "TicketStore"])
    private static let bare = office(["className": "TicketArchive"])

    /// Starts a host, counts once by a manager and stops the host.
    private func count(
        _ managers: ManifestValue, by name: String = "Office", in folder: TestFolder
    ) async throws -> Int {
        let fixture = try await AnnexFixture(managers, in: folder)
        let count = try await fixture.manager(name).pass(0).count
        await fixture.host.stop()
        return count
    }

    @Test func `a cold start continues the data of the former name, once`() async throws {
        let folder = try TestFolder()
        #expect(try await count(Self.store, in: folder) == 1)
        #expect(try await count(Self.archive, in: folder) == 2)
        #expect(try await count(Self.archive, in: folder) == 3, "harmless afterwards")
        #expect(try await count(Self.bare, in: folder) == 4, "and not needed")
        #expect(try await count(Self.store, in: folder) == 5, "the former name has it again when it comes alone")
        #expect(try await count(Self.archive, in: folder) == 6)
    }

    @Test func `a controller that has data of its own already keeps it, and the log says so`() async throws {
        let folder = try TestFolder()
        #expect(try await count(Self.store, in: folder) == 1)
        #expect(try await count(Self.bare, in: folder) == 1)
        let fixture = try await AnnexFixture(Self.archive, in: folder)
        #expect(try await fixture.manager("Office").pass(0).count == 2)
        #expect(
            fixture.test.log.records.contains { $0.level == .warning && $0.message.hasPrefix("`was` of a data access") }
        )
        await fixture.host.stop()
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `in a swap the data goes along, and back with a failed probation`(lanes: LaneRule) async throws {
        let fixture = try await AnnexFixture(Self.store, lanes: lanes), office = try await fixture.manager("Office")
        #expect(try await office.pass(0).count == 1)
        try await fixture.swap(Self.archive)
        #expect(try await office.pass(0).count == 2)
        try await fixture.swap(Self.store)
        #expect(try await office.pass(0).count == 3)
        await fixture.host.stop()
        let probed = try await AnnexFixture(Self.store, lanes: lanes, in: fixture.test.files) {
            $0.swapFault = { action throws(BackplaneError) in
                if action == .watch { throw BackplaneError(.componentFailed, "on purpose") }
            }
        }
        let again = try await probed.manager("Office")
        let report = try await probed.swap(Self.archive) { $0.probation = Probation(duration: .seconds(60)) }
        #expect(report.outcome == .rolledBack)
        #expect(try await again.pass(0).count == 4)
        await probed.host.stop()
    }

    @Test func `data that would be left behind is named first`() async throws {
        let fixture = try await AnnexFixture(Self.store), office = try await fixture.manager("Office")
        #expect(try await office.pass(0).count == 1)
        for failure in [
            await error { try await fixture.swap(Self.bare) },
            await error { try await fixture.host.apply(AnnexFixture.document(Self.bare)) },
        ] {
            #expect(
                failure?.message.contains(
                    "TicketArchive would start without the data that it stored as `TicketStore`; write `\"was\": \"TicketStore\"` in its definition, give it `\"namespace\": \"TicketStore\"`, or continue without the data (`ChangeOptions.discardsState`)"
                ) == true, "\(String(describing: failure))")
        }
        #expect(try await office.pass(0).count == 2)
        try await fixture.swap(Self.office(["className": "TicketArchive", "namespace": "TicketStore"]))
        #expect(try await office.pass(0).count == 3)
        let report = try await fixture.swap(Self.bare) { $0.discardsState = true }
        #expect(report.warnings.contains { $0.contains("would start without the data") })
        #expect(try await office.pass(0).count == 1)
        await fixture.host.stop()
    }
}
