package import Backplane
package import BackplaneHost
package import BackplaneTestKit
package import Synchronization
package import Testing

/// Waits until a condition holds that nothing announces, by looking again and again.
///
/// It has no limit of its own: the test's time limit cancels it.
package func eventually(
    _ location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async rethrows {
    while try await !condition() {
        if Task.isCancelled {
            Issue.record("it did not happen", sourceLocation: location)
            return
        }
        // Another thread may have to come to a processor first.
        try? await Task.sleep(for: .milliseconds(1))
    }
}

/// Returns the error that `body` throws; an issue when it throws none.
package func error(
    _ location: SourceLocation = #_sourceLocation, of body: () async throws -> some Sendable
) async -> BackplaneError? {
    await #expect(throws: BackplaneError.self, sourceLocation: location) { _ = try await body() }
}

extension TestGate {
    /// Waits until the gate is open, even if the task is cancelled, as a component does that nothing can end.
    package func passThoughCancelled() async {
        await Task { try? await pass() }.value
    }
}

extension TestClock {
    /// Runs `body`, in which something does not end: limits of exactly these lengths pass whenever there is one.
    /// Afterwards none passes any more.
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
    /// Limits that do not pass on a busy machine.
    package static let patient = ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
}

extension Duration {
    /// A time until deadlines that pass only by the test's clock: plugins go by the system's, which is behind it.
    package static let farAway = Duration.seconds(36_000)
}

extension Mutex where Value == Int {
    /// Counts one more, and returns the new number.
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
