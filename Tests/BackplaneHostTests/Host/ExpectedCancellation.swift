import Backplane
import BackplaneHost
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

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
