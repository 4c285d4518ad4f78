import Foundation
import TestFixtures
import Testing

/// Leases on real processors, in both ways of counting; and that the programs which try them would notice what they
/// look for.
@Suite(
    .nightly, .serialized, .timeLimit(.minutes(10 + StressTime.seconds / 60)),
    .disabled(
        if: dlsym(nil, "__tsan_init") != nil,
        "ThreadSanitizer does not see restartable sequences, and reports what the controls leave out"))
struct LeaseTrialTests {
    /// Expects violations, which a busy machine may be slow to show.
    private func expectViolations(_ arguments: String...) async throws {
        for seconds in [1, 4, 16, 32] where try await LitmusProgram.run(arguments, seconds: seconds).violations > 0 {
            return
        }
        Issue.record("the program does not notice what is left out")
    }

    private func expectNone(
        _ arguments: String..., seconds: Int = StressTime.seconds, environment: [String: String] = [:]
    ) async throws {
        // On a busy machine some of its threads may not come to a processor in a short time.
        for factor in [1, 4, 16] {
            let outcome = try await LitmusProgram.run(arguments, seconds: factor * seconds, environment: environment)
            #expect(outcome.violations == 0)
            if outcome.flips > 0 && outcome.calls > 0 { return }
        }
        Issue.record("the program has tried nothing")
    }

    @Test func `a binding that drained is in no caller's hands, with restartable sequences`() async throws {
        try await expectNone("litmus")
    }

    @Test func `a binding that drained is in no caller's hands, with atomics, which need no barrier`() async throws {
        try await expectNone("litmus", "atomics", "no-barrier")
    }

    @Test func `without the barrier it is`() async throws {
        try await expectViolations("litmus", "no-barrier")
    }

    @Test
    func `cells that are overwritten and freed after they have drained are never seen, with restartable sequences`()
        async throws
    {
        try await expectNone("stress")
    }

    @Test func `cells that are overwritten and freed after they have drained are never seen, with atomics`()
        async throws
    {
        try await expectNone("stress", "atomics")
    }

    @Test(arguments: ["litmus", "stress"])
    func `processors beyond the stripes count by atomics beside those that do not, and none is lost`(program: String)
        async throws
    {
        try await expectNone(program, "one-stripe")
    }

    @Test(arguments: ["litmus", "stress"])
    func `threads without restartable sequences count by atomics, and none is lost`(program: String) async throws {
        try await expectNone(program, environment: ["GLIBC_TUNABLES": "glibc.pthread.rseq=0"])
    }

    @Test func `without leases they are`() async throws {
        try await expectViolations("stress", "no-lease")
    }
}
