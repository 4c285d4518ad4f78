import Backplane
import BackplaneDocuments
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

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
