import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// Deadlines and cancellation reach the component that is called, directly and through another.
@Suite(.timeLimit(.minutes(10)))
struct CallDeadlineTests {
    private func with(_ origin: Origin, _ body: (TestHost, Remote<Trials>, Remote<Relay>) async throws -> Void)
        async throws
    {
        let test = try TestHost(managers: CallErrorTests.managers, from: origin)
        try await body(test, test.host.manager("Trial"), test.host.manager("Relay"))
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a deadline gets through to the next component`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let left = try #require(try await relay.timeLeft(test.host.begin(within: .seconds(1_000))))
            #expect(left > 0 && left <= 1_000)
            #expect(try await relay.timeLeft() == nil)
        }
    }

    @Test
    func `an encoded call through another component ends at its deadline and cancels the last one`() async throws {
        try await with(.encoded) { test, trials, relay in
            try await expectCancellation(at: trials, test, calls: 2) { try await relay.wait(3_600, $0) }
        }
    }

    @Test(arguments: Origin.allCases)
    func `a call that is too late does not begin in either lane`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let late = test.host.begin(within: .seconds(-1))
            #expect(await error { try await trials.wait(0, late) }?.code == .callDeadline)
            #expect(throws: BackplaneError.self) { try trials.path(late) }
            #expect(await error { try await relay.wait(0, late) }?.code == .callDeadline)
        }
    }

    @Test(arguments: Origin.allCases)
    func `a call by name ends at its deadline`(origin: Origin) async throws {
        try await with(origin) { test, trials, _ in
            try await expectCancellation(at: trials, test) {
                try await test.host.call("Trial", "wait", Array("3600".utf8), $0)
            }
        }
    }

    @Test(arguments: Origin.allCases)
    func `cancelling the task that calls cancels the component, also through another`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let (host, direct) = (test.host, Task { try await trials.wait(3_600) })
            let through = Task { try await relay.wait(3_600) }
            let named = Task { try await host.call("Trial", "wait", Array("3600".utf8), host.begin()) }
            direct.cancel()
            through.cancel()
            named.cancel()
            #expect(await error { try await direct.value }?.code == .callCancelled)
            #expect(await error { try await through.value }?.code == .callCancelled)
            #expect(await error { try await named.value }?.code == .callCancelled)
            try await eventually { try trials.cancellations() == 3 }
        }
    }
}
