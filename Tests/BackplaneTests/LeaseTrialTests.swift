import Foundation
import TestFixtures
import Testing

/// Leases on real processors, in both ways of counting, by the program `litmus` (`Tests/Litmus`); and, at night, that
/// the program would notice what it looks for.
///
/// In a process of its own: the barriers of other tests' hosts would do for it what it leaves out.
@Suite(
    .serialized, .timeLimit(.minutes(10 + StressTime.seconds / 60)),
    .disabled(
        if: dlsym(nil, "__tsan_init") != nil,
        "ThreadSanitizer does not see restartable sequences, and reports what the controls leave out"))
struct LeaseTrialTests {
    private struct Outcome: Sendable {
        var flips, calls, violations: Int
    }

    /// Runs it for so many seconds, and for a thousand flips at least; cancels the test, with its reason, where it
    /// cannot run.
    private func run(
        _ arguments: [String], seconds: Int, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: BuiltProducts.folder + "/litmus")
        process.arguments = [arguments[0], "\(seconds)"] + arguments.dropFirst()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
        }
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var status: Int32?
        for await ended in ends {
            status = ended
            break
        }
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        if text.hasPrefix("skipped") { try Test.cancel("\(text)") }
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(
            status == 0 && numbers.count == 3, "it ended with \(status.map(String.init) ?? "nothing") and said: \(text)"
        )
        return Outcome(flips: numbers[0], calls: numbers[1], violations: numbers[2])
    }

    @Test(arguments: [
        // A binding that drained is in no caller's hands. With atomics that needs no barrier.
        ["litmus"], ["litmus", "atomics", "no-barrier"],
        // Cells that are overwritten and freed after they have drained are never seen.
        ["stress"], ["stress", "atomics"],
        // Processors beyond the stripes count by atomics beside those that do not.
        ["litmus", "one-stripe"], ["stress", "one-stripe"],
    ])
    func `no caller has what has drained, however it is counted`(arguments: [String]) async throws {
        try await expectNone(arguments)
    }

    @Test(arguments: ["litmus", "stress"])
    func `threads without restartable sequences count by atomics, and none is lost`(program: String) async throws {
        try await expectNone([program], ["GLIBC_TUNABLES": "glibc.pthread.rseq=0"])
    }

    private func expectNone(_ arguments: [String], _ environment: [String: String] = [:]) async throws {
        // On a busy machine its callers may not come to a processor in a short time.
        for seconds in [StressTime.seconds, max(1, 4 * StressTime.seconds), max(4, 16 * StressTime.seconds)] {
            let outcome = try await run(arguments, seconds: seconds, environment: environment)
            #expect(outcome.violations == 0)
            if outcome.calls > 0 { return }
        }
        Issue.record("the program has tried nothing")
    }

    @Test(.nightly, arguments: [["litmus", "no-barrier"], ["stress", "no-lease"]])
    func `without the barrier, and without leases, they have`(arguments: [String]) async throws {
        // A busy machine may be slow to show it.
        for seconds in [1, 4, 16, 32] where try await run(arguments, seconds: seconds).violations > 0 { return }
        Issue.record("the program does not notice what is left out")
    }
}

/// How long stresses last: for a thousand flips, a second at night, or what `BACKPLANE_STRESS_SECONDS` says.
enum StressTime {
    static let seconds =
        ProcessInfo.processInfo.environment["BACKPLANE_STRESS_SECONDS"].flatMap(Int.init) ?? Nightly.count(0, night: 1)
}
