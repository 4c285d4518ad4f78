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

    @Test(arguments: ["spin", "block"])
    func `the component with its plugin, its library and its calls is a candidate, and it is said when it is over`(
        method: String
    ) async throws {
        // On a busy machine the pool may count as occupied before each thread of it has a call; then it is tried again.
        for _ in 0..<5 {
            let lines = try await OccupiedPoolProgram.lines(["library", method, folder.path], in: folder)
            let candidate = try #require(
                lines.first?.wholeMatch(of: /BusyLoop of (.*): (\d+) calls? for \d+\.\d s/))
            #expect(candidate.1 == "org.backplane.tests.busy-loop 1.3.0 (lib_BusyLoop.so)")
            #expect(lines.dropFirst() == ["\(PoolReport.over): \(candidate.0)"])
            let calls = try #require(Int(candidate.2))
            if calls >= ProcessInfo.processInfo.activeProcessorCount { return }
        }
        Issue.record("not every thread had a call")
    }
}
