import Synchronization
import Testing

@testable import Backplane

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTests {
    private enum Marker {
        @TaskLocal static var value = 0
    }

    /// An operation that ignores its cancellation until it is released.
    private final class UncancellableOperation: Sendable {
        private let released = AsyncStream.makeStream(of: Void.self)
        let cancelled = AsyncStream.makeStream(of: Void.self)

        func run() async -> Int {
            await withTaskCancellationHandler {
                // A task of its own does not end with the caller's.
                await Task { for await _ in released.stream {} }.value
            } onCancel: {
                cancelled.continuation.finish()
            }
            return 1
        }

        func release() { released.continuation.finish() }
    }

    @Test func `without a deadline an operation runs in the caller's task`() async throws {
        let caller = withUnsafeCurrentTask { $0?.hashValue }
        let task = try await withDeadline(Call()) { withUnsafeCurrentTask { $0?.hashValue } }
        #expect(task == caller)
    }

    @Test func `the operation's result is returned, and its task has the caller's values`() async throws {
        let value = try await Marker.$value.withValue(7) {
            try await withDeadline(Call(within: .seconds(600))) { Marker.value }
        }
        #expect(value == 7)
    }

    @Test(arguments: [nil, Duration.seconds(600)])
    func `the operation's error is thrown`(limit: Duration?) async {
        let error = await #expect(throws: BackplaneError.self) {
            try await withDeadline(Call(within: limit)) { throw BackplaneError(.componentFailed, "no such book") }
        }
        #expect(error?.code == .componentFailed && error?.message == "no such book")
    }

    @Test func `an operation that ignores its cancellation is left behind at the deadline`() async {
        // On a busy machine a deadline may pass before the operation has begun; then it is tried with a later one.
        for limit in [Duration.milliseconds(20), .seconds(1), .seconds(10), .seconds(60)] {
            let operation = UncancellableOperation(), began = Mutex(false)
            defer { operation.release() }
            let error = await #expect(throws: BackplaneError.self) {
                try await withDeadline(Call(within: limit)) {
                    began.withLock { $0 = true }
                    return await operation.run()
                }
            }
            #expect(error?.code == .callDeadline)
            guard began.withLock({ $0 }) else { continue }
            for await _ in operation.cancelled.stream {}  // ends once the operation was cancelled
            return
        }
        Issue.record("the operation has not begun")
    }

    @Test func `an operation does not begin after the deadline`() async throws {
        let call = Call(within: .milliseconds(1)), began = Mutex(false)
        while (call.timeLeft ?? .zero) > .zero { await Task.yield() }
        let error = await #expect(throws: BackplaneError.self) {
            try await withDeadline(call) { began.withLock { $0 = true } }
        }
        #expect(error?.code == .callDeadline && !began.withLock { $0 })
    }

    @Test func `cancelling the caller cancels the operation, whose result counts`() async throws {
        let began = AsyncStream.makeStream(of: Void.self)
        let caller = Task {
            try await withDeadline(Call(within: .seconds(600))) {
                began.continuation.finish()
                try? await Task.sleep(for: .seconds(600))
                return Task.isCancelled
            }
        }
        for await _ in began.stream {}
        caller.cancel()
        #expect(try await caller.value)
    }
}
