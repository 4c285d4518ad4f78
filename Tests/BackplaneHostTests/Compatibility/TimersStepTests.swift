import Backplane
import BackplaneBoundary
import BackplaneTestKit
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought timers: in C, loaded from files and swapped for other editions.
@Suite(.timeLimit(.minutes(5)))
struct TimersStepTests {
    /// A method of the plugin.
    private struct TimersStep: Contract {
        static let version: Version = "1.0.0"
        let endRound = SyncMethod<Nothing, Bool>()
    }

    /// A host with a component whose timers go by a manual clock.
    private struct TimersStepHost {
        let test: TestHost
        var clock: TestClock { test.clock }
        private let folder: LoadingFixture.Folder

        init(_ flags: String..., stopLimit: Duration = .seconds(10)) async throws {
            folder = try LoadingFixture.Folder()
            try folder.write(Self.library(flags), as: "libTimersStep.so")
            test = try TestHost(
                """
                {"manifestVersion": 1, "plugins": [{"library": "TimersStep"}],
                 "managers": {"TimersStep": {"className": "TimersStepManager"}}}
                """, linked: [], in: folder, stopLimit: stopLimit)
            try await test.host.start()
        }

        private static func library(_ flags: [String]) throws -> [UInt8] {
            let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/timers.c", encoding: .utf8)
            return try LoadingFixture.library(
                of: source,
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags)
        }

        func call(_ method: String) async throws(BackplaneError) -> String {
            try await test.call("TimersStep", method)
        }

        func swap(_ flags: String...) async throws -> SwapReport {
            let path = try folder.write(Self.library(flags), as: "libNext.so")
            return try await test.host.swap(
                library: path, SwapOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        }

        /// What it wrote, and which edition of it.
        var lines: [String] {
            test.log.all.filter { $0.source == "TimersStep" }.map { "\($0.message) \($0.metadata["edition"] ?? "?")" }
        }
    }

    @Test func `its rounds come with the period, and all ends in order`() async throws {
        let component = try await TimersStepHost("-DPERIOD=1000")
        try await component.clock.run(for: .milliseconds(3_500))
        #expect(try await component.call("rounds") == "3")
        #expect(try await component.call("remove") == "null")
        try await component.clock.run(for: .seconds(10))
        #expect(try await component.call("rounds") == "3")
        #expect(component.lines == ["round 1 1", "round 2 1", "round 3 1", "rounds ended 1"])
        await component.test.host.stop()
        #expect(component.lines.last == "released 1")
        #expect(component.clock.pending == 0)
    }

    @Test func `what it leaves is released before it is`() async throws {
        let component = try await TimersStepHost()
        await component.test.host.stop()
        #expect(component.lines == ["rounds ended 1", "released 1"])
    }

    @Test(arguments: [[], ["-DEXCLUSIVE"]])
    func `another edition takes over where the rounds are`(flags: [String]) async throws {
        let component = try await TimersStepHost(flags.first ?? "-DPLAIN")
        try await component.clock.run(for: .milliseconds(1_700))
        #expect(try await component.swap("-DEDITION=\"2\"", flags.first ?? "-DPLAIN").outcome == .swapped)
        #expect(try await component.call("edition") == "2")
        try await component.clock.run(for: .milliseconds(299))
        #expect(try await component.call("rounds") == "0")
        try await component.clock.run(for: .milliseconds(1))
        #expect(try await component.call("rounds") == "1")
        await eventually { component.lines.contains("released 1") }
        #expect(component.lines.filter { $0.hasPrefix("round ") } == ["round 1 1", "round 1 2"])
        let ended = component.lines.firstIndex(of: "rounds ended 1"),
            released = component.lines.firstIndex(of: "released 1")
        #expect(try #require(ended) < #require(released))
        await component.test.host.stop()
    }

    @Test func `a swap waits for a round`() async throws {
        let component = try await TimersStepHost("-DEXCLUSIVE")
        let rounds: Remote<TimersStep> = try await component.test.host.manager("TimersStep"),
            gate = try await component.test.host.coordinator.gate(of: "TimersStep")
        #expect(try await component.call("hang") == "null")
        component.clock.advance(by: .seconds(1))
        #expect(component.lines == ["round 1 1"])
        let swap = Task { try await component.swap("-DEXCLUSIVE", "-DEDITION=\"2\"") }
        await eventually { gate.isHeld }
        #expect(try rounds.endRound(), "synchronous calls come through meanwhile")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await component.call("edition") == "2")
        await component.test.host.stop()
    }

    @Test func `a round that does not end is called off with the host`() async throws {
        let component = try await TimersStepHost(stopLimit: .milliseconds(30))
        #expect(try await component.call("hang") == "null")
        component.clock.advance(by: .seconds(1))
        let round = try #require(
            try await component.test.host.coordinator.running("TimersStep").timers.bodiesInFlight.first)
        try await component.test.expiring(.milliseconds(30), .milliseconds(30)) { await component.test.host.stop() }
        // Its log is closed by then: that it was called shows in its answer.
        await eventually { !Callbacks.isOwed(round) }
        #expect(!Callbacks.end(round, EncodedAnswer(.hostHasStopped)), "the host ended it before")
    }

    @Test func `an error is logged, and wrong timers are refused`() async throws {
        let component = try await TimersStepHost()
        #expect(try await component.call("fail") == "null")
        try await component.clock.run(for: .seconds(1))
        let line = try #require(component.test.log.all.first { $0.message == "timer failed" })
        #expect(line.metadata["component"] == "TimersStep" && line.metadata["timer"] == "fail")
        #expect(line.metadata["error"]?.contains("the timer failed") == true)
        #expect(try await component.call("wrong") == "0")
        let refused = component.lines.filter { $0.hasPrefix("refused") }
        let reasons = [
            "TimersStep already has a timer `rounds`; cancel that one first, or choose another name",
            "the timer has no `fire` function",
            "timer `back`: the delay must be from 0 to ten years, but is -0.001 seconds",
            "no component has the handle 999999; pass the one from bp_creation",
        ]
        #expect(refused.count == reasons.count)
        for (line, reason) in zip(refused, reasons) { #expect(line.contains(reason), "\(line)") }
        await component.test.host.stop()
    }
}
