import Backplane
import ChallengeModule
import Testing

@testable import BackplaneHost

/// Deadlines and cancellation reach the component that is called, directly and through another.
@Suite(.timeLimit(.minutes(2)))
struct CallDeadlineTests {
    private func with(_ origin: Origin, _ body: (TestHost, Remote<Trials>, Remote<Relay>) async throws -> Void) async throws {
        let test = try TestHost(managers: CallErrorTests.managers, from: origin)
        try await body(test, test.host.manager("Trial"), test.host.manager("Relay"))
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a call ends at its deadline and the component is cancelled`(origin: Origin) async throws {
        try await with(origin) { test, trials, _ in
            try await expectCancellation(at: trials, test.host) { try await trials.wait(3_600, $0) }
            #expect(try trials.path() == [], "the component goes on")
        }
    }

    @Test(arguments: Origin.allCases)
    func `a deadline gets through to the next component`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let left = try #require(try await relay.timeLeft(test.host.begin(within: .seconds(1_000))))
            #expect(left > 0 && left <= 1_000)
            #expect(try await relay.timeLeft() == nil)

            try await expectCancellation(at: trials, test.host) { try await relay.wait(3_600, $0) }
        }
    }

    @Test(arguments: Origin.allCases)
    func `a call by name ends at its deadline`(origin: Origin) async throws {
        try await with(origin) { test, trials, _ in
            try await expectCancellation(at: trials, test.host) { try await test.host.call("Trial", "wait", Array("3600".utf8), $0) }
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

    @Test(arguments: Origin.allCases)
    func `two hundred calls with and without deadlines all end`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let host = test.host
            let outcomes = await withTaskGroup(of: String.self) { group in
                for number in 0..<200 {
                    group.addTask { @concurrent in
                        do throws(BackplaneError) {
                            let call = host.begin(within: number.isMultiple(of: 2) ? .milliseconds(20) : nil)
                            let seconds = number.isMultiple(of: 2) ? 3_600.0 : 0.001
                            return number < 100 ? try await trials.wait(seconds, call) : try await relay.wait(seconds, call)
                        } catch {
                            return error.code.rawValue
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == ["waited": 100, "call.deadline": 100])
        }
    }
}
