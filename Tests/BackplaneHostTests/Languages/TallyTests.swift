import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A plugin in Rust, made from what `backplane.h` says and without crates.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct TallyTests {
    @Test func `it is called, and counts`() async throws {
        let tally = try TallyHost()
        #expect(try await tally.call("total") == "0")
        #expect(try await tally.call("add", "40") == "40")
        #expect(try await tally.call("add", " 2\n") == "42")
        #expect(try await tally.call("wait", "1") == "42")
        #expect(try await tally.call("total", of: "There") == "0", "each has its own")
        await tally.host.stop()
    }

    @Test func `a call that nobody waits for any more is cancelled, here and where it was passed on`() async throws {
        let tally = try TallyHost()
        for method in ["wait", "waitElsewhere"] {
            let call = Task { () async throws(BackplaneError) -> String in try await tally.call(method, "999999") }
            let end = method == "wait" ? "Here" : "There"
            try await eventually { try await tally.callsInFlight(of: end) == 1 }
            call.cancel()
            #expect(await error { try await call.value }?.code == .callCancelled)
            // Sixteen minutes is what it would take by itself.
            try await eventually { try await tally.callsInFlight(of: "Here") == 0 }
            try await eventually { try await tally.callsInFlight(of: "There") == 0 }
        }
        #expect(try await tally.call("add", "1") == "1", "it goes on")
        await tally.host.stop()
    }

    @Test func `the host ends calls at their deadline, and the frame takes it along`() async throws {
        let tally = try TallyHost()
        for method in ["wait", "waitElsewhere"] {
            let late = await error {
                try await tally.test.expiring(.farAway) {
                    try await tally.call(method, "999999", within: .farAway)
                }
            }
            #expect(late?.code == .callDeadline)
        }
        try await eventually { try await tally.callsInFlight(of: "There") == 0 }
        await tally.host.stop()
    }

    @Test func `another generation takes over with the state, while a call waits, and the one before comes back`()
        async throws
    {
        let tally = try TallyHost()
        #expect(try await tally.call("add", "7") == "7")
        let bytes = Array(try Data(contentsOf: URL(filePath: tally.library)))
        let next = try TestFolder()
        let path = try next.write(bytes + [0], as: "libNext.so")
        let waiting = Task { () async throws(BackplaneError) -> String in try await tally.call("wait", "200") }
        let report = try await tally.host.swap(library: path, ChangeOptions(stepLimit: .seconds(60)))
        #expect(report.outcome == .changed)
        #expect(try await waiting.value == "7")
        #expect(try await tally.call("add", "1") == "8")
        _ = try await tally.host.rollback(plugin: "org.example.tally", to: 1, ChangeOptions(stepLimit: .seconds(60)))
        #expect(try await tally.call("total") == "8")
        await tally.host.stop()
        #expect(await error { try await tally.call("total") } != nil)
    }
}
