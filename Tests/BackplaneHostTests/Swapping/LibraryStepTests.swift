import Backplane
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Libraries that go wrong in one step of a swap, in new code or in old.
@Suite(.timeLimit(.minutes(5)))
struct LibraryStepTests {
    private static let brief = SwapOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(5))

    @Test(arguments: ["ENTRY", "CREATE", "IMPORT", "ACTIVATE"], ["HANGS", "FAILS"])
    func `new code that never returns or fails, in any step, leaves the old as it was`(step: String, how: String)
        async throws
    {
        // What hangs is still there when the host stops.
        let fixture = try await TurnstileFixture {
            ($0.clock, $0.stopLimit) = (nil, .milliseconds(300))
        }
        let culprit = try TurnstileFixture.culprit([how.lowercased(): step])
        let options = SwapOptions(
            drain: Self.brief.drain, stepLimit: how == "HANGS" ? Self.brief.stepLimit : .seconds(60),
            // A trial would find it before the host calls the entry function.
            trustsLibraries: step == "ENTRY")
        let (failure, visits) = try await TurnstileVisitors.with(fixture.turnstile) {
            await error { try await fixture.swap(culprit, options) }
        }
        switch (step, how) {
        case ("ENTRY", "HANGS"):
            #expect(failure?.code == .callDeadline && failure?.message.contains("libTurnstile.so") == true)
        case ("ENTRY", _): #expect(failure?.code == .pluginRefused)
        default:
            let name = ["CREATE": "prepare", "IMPORT": "import", "ACTIVATE": "activate"][step] ?? ""
            #expect(
                failure?.code == .swapFailed && failure?.message.contains(": \(name): ") == true,
                "\(String(describing: failure))")
        }
        #expect(visits.flatMap(\.mistakes) == [])
        #expect(visits.allSatisfy { $0.last?.handovers == 0 })
        #expect(try await fixture.generations().active == 1)
        try await fixture.swap(TurnstileFixture.built("Turnstile2"))
        #expect(try await fixture.turnstile.pass(1).edition == 2, "and the next swap comes about")
        await fixture.host.stop()
    }

    @Test(arguments: ["SUSPEND", "EXPORT"], ["HANGS", "FAILS"])
    func `old code that never returns or fails keeps running, and the step is reported`(step: String, how: String)
        async throws
    {
        let fixture = try await TurnstileFixture(
            TurnstileFixture.culprit([how.lowercased(): step]),
            options: { ($0.clock, $0.stopLimit) = (nil, .milliseconds(300)) })
        let first = try TurnstileFixture.built("Turnstile1"),
            options = how == "HANGS" ? Self.brief : SwapOptions(stepLimit: .seconds(60))
        let failure = await error { try await fixture.swap(first, options) }
        #expect(
            failure?.code == .swapFailed && failure?.message.contains(": \(step.lowercased()): ") == true,
            "\(String(describing: failure))")
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        #expect(try await fixture.generations().active == 1)
        await fixture.host.stop()
    }

    @Test func `state that the new code cannot decode stays with the old`() async throws {
        let fixture = try await TurnstileFixture(TurnstileFixture.culprit(["exported": "10"]))
        let failure = await error { try await fixture.swap(TurnstileFixture.built("Turnstile1")) }
        #expect(
            failure?.code == .swapFailed && failure?.message.contains(": import: ") == true,
            "\(String(describing: failure))")
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        await fixture.host.stop()
    }

    @Test func `a hundred megabytes of state go over, or are refused where the host takes less`() async throws {
        let bytes = 100 << 20, old = try TurnstileFixture.culprit(["exported": "\(bytes)"]),
            new = try TurnstileFixture.culprit(edition: 4)
        let roomy = try await TurnstileFixture(old)
        let report = try await roomy.swap(new)
        #expect(report.components.map(\.state?.bytes) == [bytes])
        #expect(report.warnings == [])
        #expect(try await roomy.turnstile.pass(1).edition == 4)
        await roomy.host.stop()

        let strict = try await TurnstileFixture(old) { $0.stateLimit = bytes - 1 }
        let failure = await error { try await strict.swap(new) }
        #expect(failure?.code == .swapFailed && failure?.causes.first?.code == .stateIncompatible)
        for text in ["\(bytes) bytes", "\(bytes - 1)", "HostOptions.stateLimit"] {
            #expect(failure?.message.contains(text) == true, "\(text)")
        }
        #expect(try await strict.turnstile.pass(1).edition == 3)
        await strict.host.stop()
    }
}
