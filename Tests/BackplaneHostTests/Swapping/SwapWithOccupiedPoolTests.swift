import Backplane
import Glibc
import Synchronization
import Testing

@testable import BackplaneHost

/// Swaps while callers keep every thread of Swift's pool and never suspend: what must not wait for plugins does not.
///
/// The callers go on until the host has written how the swap ended, so that a host that waited for them would never
/// end. One after the other: two that share the threads would wait for each other to have them all.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SwapWithOccupiedPoolTests {
    /// Calls that compute until they are told to end.
    private final class BusyLoops: Sendable {
        private let eating = Atomic(0)
        private let isOver = Atomic(false)
        let remote = Mutex<Remote<Scripted>?>(nil)

        /// What one does.
        var act: Script.Act {
            { [self] _, text, _ in
                eating.wrappingAdd(1, ordering: .relaxed)
                while !isOver.load(ordering: .relaxed) {}
                return text
            }
        }

        /// Begins two calls per processor, and returns when they have every thread. Not to be called on the pool.
        func occupy() {
            guard let remote = remote.withLock({ $0 }) else { return }
            let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
            for _ in 0..<(2 * processors) { Task.detached { try await remote.act("") } }
            while eating.load(ordering: .relaxed) < processors { sched_yield() }
        }

        /// Ends them when the log says that a swap is over.
        var log: RecordedLog {
            RecordedLog { [self] record in
                if ["swapped", "swap failed, the old code keeps running", "rolled back"].contains(record.message) {
                    isOver.store(true, ordering: .relaxed)
                }
            }
        }
    }

    /// - Parameter action: just before it the pool is occupied.
    private func host(_ busyLoops: BusyLoops, before action: SwapAction, _ script: CounterScript = CounterScript())
        async throws
        -> CounterHost
    {
        let log = busyLoops.log, once = Once()
        let counters = try CounterHost(
            script: script, others: ["BusyLoop": ScriptedPlugin.Part(script: Script(act: busyLoops.act)).value],
            linked: [LinkedPlugin(ScriptedPlugin.self)]
        ) {
            // No test could advance a clock meanwhile.
            ($0.log, $0.clock) = (log, nil)
            $0.swapFault = { next throws(BackplaneError) in
                if next == action, once.isFirst { busyLoops.occupy() }
            }
        }
        let remote: Remote<Scripted> = try await counters.host.manager("BusyLoop")
        busyLoops.remote.withLock { $0 = remote }
        return counters
    }

    @Test func `a drain comes to its deadline, and so do the calls that wait`() async throws {
        let busyLoops = BusyLoops(), never = Latch()
        let counters = try await host(
            busyLoops, before: .drain,
            CounterScript(act: { _, text, _ in
                await never.pass()
                return text
            }))
        let counter = try await counters.counter(), gate = try await counters.gate("Counter"),
            slot = try #require(counters.host.coordinator.knownSlot(to: "Counter", as: Counting.self))
        let call = Task { try await counter.act("") }
        await eventually { never.arrived == 1 }
        // Whoever waits is told at its deadline, which comes long before the drain's.
        let early = Mutex<BackplaneError.Code?>(nil)
        let swap = Task {
            try await counters.swap(CounterScript(edition: 2), SwapOptions(drain: .upTo(.seconds(5), then: .fail)))
        }
        _ = HostThread.launch {
            while !gate.isHeld { sched_yield() }
            _ = gate.wait(at: slot, Call(within: .milliseconds(20))) { admission in
                if case .failure(let error) = admission { early.withLock { $0 = error.code } }
            }
        }
        #expect(
            await error { try await swap.value }?.message.contains("quiesce: calls have not ended within 5.0 seconds")
                == true)
        #expect(early.withLock { $0 } == .callDeadline)
        never.open()
        _ = try await call.value
        #expect(try await counter.edition() == 1)
        await counters.host.stop()
    }

    @Test func `a step that does not end fails at its limit`() async throws {
        let busyLoops = BusyLoops(), never = Latch(), counters = try await host(busyLoops, before: .create(0)),
            counter = try await counters.counter()
        _ = try await counter.add(5)
        let failure = await error {
            try await counters.swap(
                CounterScript(edition: 2, made: { _ in await never.pass() }),
                SwapOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(0.2)))
        }
        #expect(failure?.message.contains("prepare: Counter took longer than 0.2 seconds to be created") == true)
        #expect(try await counter.add(1) == 6)
        never.open()
        await eventually { counters.counters["Counter"]!.left == [1: 1] }
        await counters.host.stop()
    }

    @Test func `a swap comes about`() async throws {
        let busyLoops = BusyLoops(), counters = try await host(busyLoops, before: .create(0)),
            counter = try await counters.counter()
        _ = try await counter.add(5)
        #expect(try await counters.swap(CounterScript(edition: 2)).outcome == .swapped)
        #expect(try await counter.edition() == 2)
        #expect(try await counter.add(1) == 6)
        await counters.host.stop()
    }
}
