import Backplane
import Testing

@testable import BackplaneHost

/// A plugin of ABI 0 and the same in C++ under swaps, each by another edition of itself and by one another.
@Suite(.timeLimit(.minutes(5)))
struct LedgerSwapTests {
    private static let pairs = LedgerLibrary.allCases.flatMap { old in LedgerLibrary.allCases.map { new in (old, new) }
    }

    @Test(arguments: pairs) func `another edition takes over with the state`(old: LedgerLibrary, new: LedgerLibrary)
        async throws
    {
        let ledger = try LedgerHost(old.built())
        #expect(try await ledger.call("add", "40") == "40")
        let report = try await ledger.swap(new.built(edition: 2))
        #expect(report.outcome == .swapped)
        #expect(try await ledger.call("edition") == "2")
        #expect(try await ledger.call("add", "2") == "42")
        #expect(
            try await ledger.call("path") == "[3]", "its wire is connected, and it is the third component that was made"
        )
        #expect(ledger.lines == ["activate 1", "suspend 1", "activate 2"])
        await ledger.host.stop()
        #expect(ledger.lines.last == "stop 2")
    }

    @Test(arguments: pairs) func `the edition before comes back with the state of now`(
        old: LedgerLibrary, new: LedgerLibrary
    ) async throws {
        let ledger = try LedgerHost(old.built())
        #expect(try await ledger.call("add", "1") == "1")
        _ = try await ledger.swap(new.built(edition: 2))
        #expect(try await ledger.call("add", "2") == "3")
        _ = try await ledger.host.rollback(plugin: LedgerLibrary.plugin, to: 1, .patient)
        #expect(try await ledger.call("edition") == "1")
        #expect(try await ledger.call("total") == "3")
        await ledger.host.stop()
    }

    @Test(arguments: pairs) func `one that is not well is taken back`(old: LedgerLibrary, new: LedgerLibrary)
        async throws
    {
        let ledger = try LedgerHost(old.built())
        #expect(try await ledger.call("add", "1001") == "1001")
        let report = try await ledger.swap(
            new.built(edition: 2), probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)))
        #expect(report.outcome == .rolledBack)
        #expect(report.failure?.message == "Ledger is unhealthy: the ledger is full")
        #expect(try await ledger.call("edition") == "1")
        #expect(try await ledger.call("add", "-1") == "1000")
        await ledger.host.stop()
    }

    @Test(arguments: pairs) func `a swap waits for a call that is under way`(old: LedgerLibrary, new: LedgerLibrary)
        async throws
    {
        let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
        let ledger = try LedgerHost(old.built(), log: RecordedLog { if $0.message == "waiting" { isWaiting.yield() } })
        let call = Task { () async throws(BackplaneError) -> String in try await ledger.call("wait") }
        for await _ in waiting { break }
        let library = try new.built(edition: 2)
        let swap = Task { try await ledger.swap(library) }
        try await eventually { try await ledger.host.generations(of: LedgerLibrary.plugin).count == 2 }
        call.cancel()
        #expect(await error { try await call.value }?.code == .callCancelled)
        #expect(try await swap.value.outcome == .swapped)
        #expect(ledger.lines == ["activate 1", "waiting 1", "cancelled 1", "suspend 1", "activate 2"])
        await ledger.host.stop()
    }
}
