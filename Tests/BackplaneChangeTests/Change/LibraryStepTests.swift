import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Libraries that go wrong in one step of a swap, in new code or in old.
@Suite(.timeLimit(.minutes(5)))
struct LibraryStepTests {
    private static let limit = Duration.seconds(60)

    /// Swaps the library, and lets the limit of the step pass in which `how` says that it hangs.
    private func failure(
        of fixture: TurnstileFixture, _ library: [UInt8], _ how: String, trusts: Bool = false
    ) async -> BackplaneError? {
        let before = Self.pausedThreads
        let options = ChangeOptions(
            drain: .upTo(.seconds(60), then: .fail), stepLimit: Self.limit, trustsLibraries: trusts)
        return await error {
            guard how == "HANGS" else { return try await fixture.swap(library, options) }
            return try await fixture.test.expiring(
                Self.limit, once: { await eventually { Self.pausedThreads > before } }
            ) {
                try await fixture.swap(library, options)
            }
        }
    }

    /// The number of threads in the system call `pause`, as code that hangs is.
    private static var pausedThreads: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/syscall", encoding: .utf8))?.hasPrefix("34 ") == true
        }
    }

    /// What hangs is still there when the host stops.
    private func stop(_ fixture: TurnstileFixture) async {
        await fixture.test.clock.passing(.milliseconds(300)) { await fixture.host.stop() }
    }

    @Test(arguments: ["ENTRY", "CREATE", "IMPORT", "ACTIVATE"], ["HANGS", "FAILS"])
    func `new code that never returns or fails, in any step, leaves the old as it was`(step: String, how: String)
        async throws
    {
        let fixture = try await TurnstileFixture { $0.stopLimit = .milliseconds(300) }
        let culprit = try TurnstileFixture.culprit([how.lowercased(): step])
        let (failure, visits) = try await TurnstileVisitors.with(fixture.turnstile) {
            // A trial would find it before the host calls the entry function.
            await self.failure(of: fixture, culprit, how, trusts: step == "ENTRY")
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
        await stop(fixture)
    }

    @Test(arguments: ["SUSPEND", "EXPORT"], ["HANGS", "FAILS"])
    func `old code that never returns or fails keeps running, and the step is reported`(step: String, how: String)
        async throws
    {
        let fixture = try await TurnstileFixture(
            TurnstileFixture.culprit([how.lowercased(): step]),
            options: { $0.stopLimit = .milliseconds(300) })
        let failure = await self.failure(of: fixture, try TurnstileFixture.built("Turnstile1"), how)
        #expect(
            failure?.code == .swapFailed && failure?.message.contains(": \(step.lowercased()): ") == true,
            "\(String(describing: failure))")
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        #expect(try await fixture.generations().active == 1)
        await stop(fixture)
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
}
