import Backplane
import BackplaneBoundary
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought timers: in C, loaded from files and swapped for other editions.
@Suite(.timeLimit(.minutes(5)))
struct WardenTests {
    /// A host with a warden whose timers go by a manual clock.
    private struct WardenHost {
        let test: TestHost
        let clock = ManualTimerClock()
        private let folder: LoadingFixture.Folder

        init(_ flags: String..., stopLimit: Duration = .seconds(10)) async throws {
            folder = try LoadingFixture.Folder()
            try folder.write(Self.library(flags), as: "libWarden.so")
            let clock = clock
            test = try TestHost(
                """
                {"manifestVersion": 1, "plugins": [{"library": "Warden"}],
                 "managers": {"Warden": {"className": "WardenManager"}}}
                """, linked: [], in: folder, stopLimit: stopLimit
            ) { $0.timerClock = clock }
            try await test.host.start()
        }

        private static func library(_ flags: [String]) throws -> [UInt8] {
            let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/timers.c", encoding: .utf8)
            return try LoadingFixture.library(
                of: source,
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags)
        }

        func call(_ method: String) async throws(BackplaneError) -> String {
            try await test.call("Warden", method)
        }

        func swap(_ flags: String...) async throws -> SwapReport {
            let path = try folder.write(Self.library(flags), as: "libNext.so")
            return try await test.host.swap(
                library: path, SwapOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        }

        /// What it wrote, and which edition of it.
        var lines: [String] {
            test.log.all.filter { $0.source == "Warden" }.map { "\($0.message) \($0.metadata["edition"] ?? "?")" }
        }
    }

    @Test func `its rounds come with the period, and all ends in order`() async throws {
        let warden = try await WardenHost("-DPERIOD=1000")
        await warden.clock.run(for: .milliseconds(3_500))
        #expect(try await warden.call("rounds") == "3")
        #expect(try await warden.call("rest") == "null")
        await warden.clock.run(for: .seconds(10))
        #expect(try await warden.call("rounds") == "3")
        #expect(warden.lines == ["round 1 1", "round 2 1", "round 3 1", "rounds ended 1"])
        await warden.test.host.stop()
        #expect(warden.lines.last == "released 1")
        #expect(warden.clock.pending == 0)
    }

    @Test func `what it leaves is released before it is`() async throws {
        let warden = try await WardenHost()
        await warden.test.host.stop()
        #expect(warden.lines == ["rounds ended 1", "released 1"])
    }

    @Test(arguments: [[], ["-DEXCLUSIVE"]])
    func `another edition takes over where the rounds are`(flags: [String]) async throws {
        let warden = try await WardenHost(flags.first ?? "-DPLAIN")
        await warden.clock.run(for: .milliseconds(1_700))
        #expect(try await warden.swap("-DEDITION=\"2\"", flags.first ?? "-DPLAIN").outcome == .swapped)
        #expect(try await warden.call("edition") == "2")
        await warden.clock.run(for: .milliseconds(299))
        #expect(try await warden.call("rounds") == "0")
        await warden.clock.run(for: .milliseconds(1))
        #expect(try await warden.call("rounds") == "1")
        await eventually { warden.lines.contains("released 1") }
        #expect(warden.lines.filter { $0.hasPrefix("round ") } == ["round 1 1", "round 1 2"])
        let ended = warden.lines.firstIndex(of: "rounds ended 1"), released = warden.lines.firstIndex(of: "released 1")
        #expect(try #require(ended) < #require(released))
        await warden.test.host.stop()
    }

    @Test func `a swap waits for a round`() async throws {
        let warden = try await WardenHost("-DEXCLUSIVE")
        #expect(try await warden.call("dawdle") == "null")
        warden.clock.advance(by: .seconds(1))
        #expect(warden.lines == ["round 1 1"])
        let swap = Task { try await warden.swap("-DEXCLUSIVE", "-DEDITION=\"2\"") }
        await eventually { warden.clock.pending == 0 }
        #expect(try await warden.call("home") == "true", "synchronous calls come through meanwhile")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await warden.call("edition") == "2")
        await warden.test.host.stop()
    }

    @Test func `a round that does not end is called off with the host`() async throws {
        let warden = try await WardenHost(stopLimit: .milliseconds(30))
        #expect(try await warden.call("dawdle") == "null")
        warden.clock.advance(by: .seconds(1))
        let round = try #require(try await warden.test.host.coordinator.running("Warden").timers.bodiesInFlight.first)
        await warden.test.host.stop()
        // Its log is closed by then: that it was called shows in its answer.
        await eventually { !Callbacks.isOwed(round) }
        #expect(!Callbacks.end(round, EncodedAnswer(.hostHasStopped)), "the host ended it before")
    }

    @Test func `an error is logged, and wrong timers are refused`() async throws {
        let warden = try await WardenHost()
        #expect(try await warden.call("fall") == "null")
        await warden.clock.run(for: .seconds(1))
        let line = try #require(warden.test.log.all.first { $0.message == "timer failed" })
        #expect(line.metadata["component"] == "Warden" && line.metadata["timer"] == "fall")
        #expect(line.metadata["error"]?.contains("the warden fell") == true)
        #expect(try await warden.call("wrong") == "0")
        let refused = warden.lines.filter { $0.hasPrefix("refused") }
        let reasons = [
            "Warden already has a timer `rounds`; cancel that one first, or choose another name",
            "the timer has no `fire` function",
            "timer `back`: the delay must be from 0 to ten years, but is -0.001 seconds",
            "no component has the handle 999999; pass the one from bp_creation",
        ]
        #expect(refused.count == reasons.count)
        for (line, reason) in zip(refused, reasons) { #expect(line.contains(reason), "\(line)") }
        await warden.test.host.stop()
    }
}
