import Backplane
import ChallengeModule
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

    @Test
    func `an encoded call ends at its deadline and the component is cancelled`() async throws {
        try await with(.encoded) { test, trials, _ in
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
        }
    }

    @Test
    func `an encoded call through another component ends at its deadline and cancels the last one`() async throws {
        try await with(.encoded) { test, trials, relay in
            try await expectCancellation(at: trials, test.host) { try await relay.wait(3_600, $0) }
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

    @Test(arguments: [Origin.libraries, .linked])
    func `a native call that began in time is not cut off at its deadline`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            // On a busy machine the deadline may pass before the call began; then it is tried with a later one.
            for limit: Double in [0.1, 2, 20] {
                let call = test.host.begin(within: .seconds(limit)), answer: String
                do throws(BackplaneError) { answer = try await trials.wait(limit * 1.5, call) } catch { continue }
                #expect(answer == "waited")
                let timeLeft = try #require(call.timeLeft), cancellations = try trials.cancellations()
                #expect(timeLeft < .zero, "its deadline has passed")
                #expect(cancellations == 0)
                return
            }
            Issue.record("no call began in time")
        }
    }

    @Test(arguments: Origin.allCases)
    func `a call by name ends at its deadline`(origin: Origin) async throws {
        try await with(origin) { test, trials, _ in
            try await expectCancellation(at: trials, test.host) {
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

    @Test
    func `two hundred encoded calls with and without deadlines all end`() async throws {
        try await with(.encoded) { test, trials, relay in
            let host = test.host
            let outcomes = await withTaskGroup(of: String.self) { group in
                for number in 0..<200 {
                    group.addTask { @concurrent in
                        do throws(BackplaneError) {
                            let call = host.begin(within: number.isMultiple(of: 2) ? .milliseconds(20) : nil)
                            let seconds = number.isMultiple(of: 2) ? 3_600.0 : 0.001
                            return number < 100
                                ? try await trials.wait(seconds, call) : try await relay.wait(seconds, call)
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
