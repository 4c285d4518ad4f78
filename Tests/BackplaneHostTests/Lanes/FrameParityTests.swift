import Backplane
import BackplaneTestKit
import CBackplane
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// The call frame goes through every component, in either lane and where the lane changes.
@Suite(.timeLimit(.minutes(10)))
struct FrameParityTests {
    private static let trace = (1...32).map { UInt8($0) }

    /// A call with everything in its frame.
    private func call() -> Call {
        var frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
        withUnsafeMutableBytes(of: &frame.trace) { $0.copyBytes(from: Self.trace) }
        return Call(copying: &frame).within(.seconds(10_000))
    }

    /// Expects the frame of a call that came through two components before this one.
    private func expectFrame(at frames: Remote<Frames>) async throws {
        let call = call()
        for frame in [try await frames.frame(call), try frames.frameNow(call)] {
            #expect(frame.deadline == call.deadline?.nanoseconds)
            #expect(frame.trace == Self.trace)
            #expect(
                frame.path == [3, 2], "the components' numbers, in the order of the call; the provider was made first")
        }
        #expect(try await frames.frame() == Frame(path: [3, 2]), "a call without anything arrives without anything")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `deadline, trace and path go through three components`(lanes: LaneRule) async throws {
        let managers = """
            "Last": {"className": "FramesManager"}, "Middle": {"className": "FramesRelay", "uses": {"next": "Last"}},
            "First": {"className": "FramesRelay", "uses": {"next": "Middle"}}
            """
        try await TestHost.with(parity: managers, lanes: lanes) { test in
            try await expectFrame(at: test.host.manager("First"))
            let crossed = await test.host.wires.map(\.lane)
            #expect(crossed.count == 3)
            #expect(crossed.allSatisfy { ($0 == .native) == (lanes == .fastest) })
        }
    }

    @Test func `and where one wire is native, the next encoded and the last goes to a plugin in C`() async throws {
        let managers = """
            "Last": {"className": "FramesInC"}, "Middle": {"className": "FramesRelay", "uses": {"next": "Last"}},
            "First": {"className": "FramesRelay", "uses": {"earlier": "Middle"}}
            """
        try await TestHost.with(
            parity: managers, libraries: ["FixturesInC"], pluginPaths: [BuiltProducts.folder]
        ) { test in
            try await expectFrame(at: test.host.manager("First"))
            let lanes = Dictionary(
                await test.host.wires.map { ($0.provider, $0.lane) }, uniquingKeysWith: { first, _ in first })
            #expect(lanes["First"] == .native)
            #expect(
                lanes["Middle"]
                    == .encoded(
                        because:
                            "`Frames` is 1.0.0 in plugin `org.backplane.tests.parity-relay` and 1.1.0 in plugin `org.backplane.tests.parity-relay`"
                    ))
            #expect(
                lanes["Last"]
                    == .encoded(because: "plugin `org.backplane.tests.fixtures-in-c` does not use the Swift SDK"))
        }
    }

    @Test(arguments: Route.allCases)
    func `the called code has its caller's priority`(route: Route) async throws {
        try await route.with("TaskContext", as: TaskContext.self) { _, taskContext in
            for priority in [TaskPriority.high, .medium, .low, .background] {
                // Whoever waited for the task itself would raise its priority.
                let (seen, sink) = AsyncStream.makeStream(of: UInt8?.self)
                Task.detached(priority: priority) {
                    sink.yield(Task.currentPriority.rawValue)
                    sink.yield(try? await taskContext.priority())
                    sink.finish()
                }
                let priorities = await seen.reduce(into: []) { $0.append($1) }
                #expect(priorities == [priority.rawValue, priority.rawValue])
            }
        }
    }
}

extension Frame {
    fileprivate init(path: [UInt16]) {
        self.init(Call())
        self.path = path
    }
}
