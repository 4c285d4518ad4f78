import Backplane
import BackplaneTestKit
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a component throws arrives at whoever called, however many components and plugins are between.
@Suite(.timeLimit(.minutes(10)))
struct CallErrorTests {
    static let managers =
        #""Trial": {"className": "TrialManager"}, "Relay": {"className": "RelayManager", "uses": {"trials": "Trial"}}"#
    static let trouble = {
        let text = "no — “nothing” \"fits\"\n"
        return BackplaneError(
            .componentFailed, text,
            failure: BackplaneError.Failure(code: "trial.trouble", details: ["length": "\(text.count)"]))
    }()

    private func with(_ origin: Origin, _ body: (TestHost, Remote<Trials>, Remote<Relay>) async throws -> Void)
        async throws
    {
        let test = try TestHost(managers: Self.managers, from: origin)
        try await body(test, test.host.manager("Trial"), test.host.manager("Relay"))
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `an error keeps its code, its message and its details, and names the calls that it has ended`(
        origin: Origin
    ) async throws {
        try await with(origin) { test, trials, relay in
            let text = Self.trouble.message, plugin = "(org.backplane.tests.challenge)"
            let thrown = await error { try await trials.fail(text) }
            #expect(thrown == Self.trouble && thrown?.calls == ["Trial.fail \(plugin)"])
            let thrownNow = #expect(throws: Self.trouble) { try trials.failNow(text) }
            #expect(thrownNow?.calls == ["Trial.failNow \(plugin)"])
            let relayed = await error { try await relay.fail(text) }
            #expect(relayed == Self.trouble, "from plugin to plugin")
            #expect(relayed?.calls == ["Relay.fail \(plugin)", "Trial.fail \(plugin)"])
            let called = await error { try await test.call("Relay", "fail", #""no""#) }
            #expect(called?.calls == relayed?.calls)
        }
    }

    @Test
    func `a number that JSON does not have is the provider's invalid output`() async throws {
        try await with(.encoded) { test, trials, relay in
            #expect(await error { try await trials.infinity() }?.code == .callInvalidOutput)
            #expect(await error { try await test.call("Trial", "infinity") }?.code == .callInvalidOutput)
            #expect(
                await error { try await trials.wait(.infinity) }?.code == .callInvalidInput,
                "and the caller's invalid input")
        }
    }

    @Test(arguments: Origin.allCases)
    func `an input of the wrong type says what was expected`(origin: Origin) async throws {
        try await with(origin) { test, trials, relay in
            let error = await error { try await test.call("Trial", "wait", #""long""#) }
            #expect(error?.code == .callInvalidInput)
            #expect(error?.message.contains("expected a number, found a string") == true)
        }
    }
}

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

/// Deadlines that pass while a call is being handed over.
@Suite(.timeLimit(.minutes(10)))
struct EarlyDeadlineTests {
    @Test func `whatever began is cancelled, however close its deadline was`() async throws {
        let asleep = Atomic(0)
        let script = Script(act: { _, _, _ in
            asleep.wrappingAdd(1, ordering: .relaxed)
            defer { asleep.wrappingSubtract(1, ordering: .relaxed) }
            try await Task.sleep(for: .seconds(3_600))
            return ""
        })
        let test = try ScriptedPlugin.host(["Sleeping": .init(script: script)], lanes: .encoded)
        let remote: Remote<Scripted> = try await test.host.manager("Sleeping")
        let callers = (0..<100).map { caller in
            Task { @concurrent in
                for round in 0..<100 {
                    let call = test.host.begin(within: .seconds(1 + (round * 7 + caller * 13) % 5))
                    #expect(await error { try await remote.act("", call) }?.code == .callDeadline)
                }
            }
        }
        let time = Task { @concurrent in
            while !Task.isCancelled {
                test.clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        for caller in callers { await caller.value }
        time.cancel()
        await eventually { asleep.load(ordering: .relaxed) == 0 }
        await test.host.stop()
    }
}

/// Expects `body` to end at the deadline of its call, and the trial manager that waits behind it to be cancelled once.
///
/// - Parameter count: The number of calls with that deadline.
func expectCancellation(
    at trials: Remote<Trials>, _ test: TestHost, calls count: Int = 1, _ location: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (Call) async throws -> some Sendable
) async throws {
    let limit = Duration.farAway, call = Task { try await body(test.host.begin(within: limit)) }
    try await test.clock.expire(limit, waiters: count)
    #expect(await error(location) { try await call.value }?.code == .callDeadline, sourceLocation: location)
    try await eventually(location) { try trials.cancellations() == 1 }
}
