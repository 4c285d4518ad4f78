import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A component that keeps every thread of Swift's pool is a candidate in the log, while it does and once it is over.
@Suite(.timeLimit(.minutes(10)), .disabled(if: OccupiedPoolProgram.isSanitized, OccupiedPoolProgram.sanitized))
struct WatchdogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The lines that the host program `occupied-pool` prints: who may occupy the pool, and what the log said when it
    /// was over.
    private func run(_ arguments: String...) async throws -> [String] {
        try await OccupiedPoolProgram.lines(arguments, in: folder)
    }

    @Test(arguments: ["spin", "block"])
    func `the component with its plugin, its library and its calls is a candidate, and it is said when it is over`(
        method: String
    ) async throws {
        try await expectCandidate("org.backplane.tests.busy-loop 1.3.0 (lib_BusyLoop.so)", "library", method)
    }

    @Test func `so is a component of a plugin that is linked into the program`() async throws {
        try await expectCandidate("org.backplane.tests.busy-loop 1.3.0, linked into this program", "linked", "spin")
    }

    private func expectCandidate(
        _ plugin: String, _ place: String, _ method: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // On a busy machine the pool may count as occupied before each thread of it has a call; then it is tried again.
        for _ in 0..<5 {
            let lines = try await run(place, method, folder.path)
            let candidate = try #require(
                lines.first?.wholeMatch(of: /BusyLoop of (.*): (\d+) calls? for \d+\.\d s/),
                sourceLocation: sourceLocation)
            #expect(candidate.1 == plugin, sourceLocation: sourceLocation)
            #expect(lines.dropFirst() == ["\(PoolReport.over): \(candidate.0)"], sourceLocation: sourceLocation)
            let calls = try #require(Int(candidate.2), sourceLocation: sourceLocation)
            if calls >= ProcessInfo.processInfo.activeProcessorCount { return }
        }
        Issue.record("not every thread had a call", sourceLocation: sourceLocation)
    }

    @Test func `while the pool is free nothing is said`() async throws {
        #expect(try await run("idle") == ["nothing more"])
    }
}
