import Backplane
import BackplaneTestKit
import Challenge
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
