package import Backplane
package import BackplaneHost
package import BackplaneTestKit
package import Synchronization
package import Testing

/// Polls until a condition holds, for conditions without a notification.
///
/// There is no time limit, because the time limit of the test cancels the wait.
package func eventually(
    _ location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async rethrows {
    while try await !condition() {
        if Task.isCancelled {
            Issue.record("it did not happen", sourceLocation: location)
            return
        }
        // Another thread may need the processor first.
        try? await Task.sleep(for: .milliseconds(1))
    }
}

/// Returns the error that `body` throws, and records an issue if it throws none.
package func error(
    _ location: SourceLocation = #_sourceLocation, of body: () async throws -> some Sendable
) async -> BackplaneError? {
    await #expect(throws: BackplaneError.self, sourceLocation: location) { _ = try await body() }
}

extension TestGate {
    /// Waits until the gate is open, even if the task is cancelled, as a component that ignores cancellation does.
    package func passThoughCancelled() async {
        await Task { try? await pass() }.value
    }
}

extension TestClock {
    /// Runs `body`, and meanwhile lets every limit of exactly these lengths pass.
    package func passing<Value: Sendable>(
        _ limits: Duration..., body: () async throws -> Value
    ) async rethrows -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for limit in limits {
                group.addTask { while !Task.isCancelled { try await self.expire(limit) } }
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}

extension ChangeOptions {
    /// Limits that are long enough for a busy machine.
    package static let patient = ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
}

extension Duration {
    /// A time until deadlines that pass only by the test's clock; plugins use the system's clock, which is behind.
    package static let farAway = Duration.seconds(36_000)
}

extension Mutex where Value == Int {
    /// Increments the number, and returns it.
    package func next() -> Int {
        withLock { number in
            number += 1
            return number
        }
    }
}

extension Result where Failure == BackplaneError {
    /// The code of the failure; `nil` for a success.
    package var code: BackplaneError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
