import CBackplane
import Synchronization
import Testing

@testable import Backplane

@Suite struct CallTests {
    @Test func `the frame is 64 bytes and says so`() {
        #expect(MemoryLayout<Call>.size == 64)
        #expect(Call().frame.size == 64)
    }

    @Test func `a call that begins here has no deadline, no trace and no path`() {
        let call = Call()
        #expect(call.timeLeft == nil)
        #expect(call.path.isEmpty)
        #expect(withUnsafeBytes(of: call.frame.trace) { $0.allSatisfy { $0 == 0 } })
    }

    @Test func `time only gets shorter`() throws {
        let minute = Call(within: .seconds(60))
        #expect(try #require(minute.within(.seconds(1)).timeLeft) <= .seconds(1))
        #expect(minute.within(.seconds(3_600)).deadline == minute.deadline)
        #expect(try #require(Call().within(.seconds(600)).timeLeft) > .seconds(500))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e18), .seconds(-1e18), .seconds(9_223_372_036.9), .zero])
    func `no duration is too long or too short for a deadline`(duration: Duration) {
        let call = Call(within: duration)
        #expect(call.deadline != nil)
        #expect((call.deadline! > .now) == (duration > .zero))
    }

    @Test func `a call whose time is over does not begin`() {
        let error = #expect(throws: BackplaneError.self) { try Call(within: .zero).checkDeadline() }
        #expect(error?.code == .callDeadline)
        #expect(throws: Never.self) { try Call(within: .seconds(60)).checkDeadline() }
        #expect(throws: Never.self) { try Call().checkDeadline() }
    }

    @Test func `the path names eight components, and then says that it is full`() {
        var call = Call()
        for number in 1...8 as ClosedRange<UInt32> { bp_call_append(&call.frame, number) }
        #expect(call.path == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(call.frame.flags & BP_CALL_PATH_FULL == 0)

        bp_call_append(&call.frame, 9)

        #expect(call.path == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(call.frame.flags & BP_CALL_PATH_FULL != 0)
    }

    @Test func `the host program is in no path`() {
        var call = Call()
        bp_call_append(&call.frame, 0)
        #expect(call.path.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTests {

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

@Suite struct TraceTests {
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a traceparent is read and written`() throws {
        let trace = try #require(Trace(traceparent: Self.example))
        #expect(trace.id == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.traceparent == Self.example)
        let unrecorded = "00-00000000000000000000000000000001-0000000000000001-00"
        #expect(Trace(traceparent: unrecorded)?.traceparent == unrecorded)
    }

    @Test(arguments: [
        "", "00", String(example.dropLast()), example + "0", example + "-00", example.uppercased(),
        "ff" + example.dropFirst(2), "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", example.replacing("-", with: "_"),
        "0g" + example.dropFirst(2), "é" + example.dropFirst(2),
    ])
    func `what is no traceparent is none`(text: String) {
        #expect(Trace(traceparent: text) == nil)
    }

    @Test func `of a later version, what is known is read`() {
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2))?.traceparent == Self.example)
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2) + "-more")?.traceparent == Self.example)
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2) + "more") == nil)
        // The flags of version 00 are one bit; the others may mean anything.
        #expect(Trace(traceparent: Self.example.dropLast(2) + "ff")?.traceparent == Self.example)
    }

    @Test func `a call that begins has a trace of its own, or continues one`() throws {
        let calls = (0..<1_000).map { _ in Call(within: nil, traceparent: nil) }
        #expect(Set(calls.map { $0.trace?.id }).count == 1_000)
        for call in calls {
            let trace = try #require(call.trace)
            #expect(Trace(traceparent: trace.traceparent)?.traceparent == trace.traceparent, "\(trace.traceparent)")
            #expect(trace.traceparent.hasSuffix("-01"))
        }
        #expect(Call(within: nil, traceparent: Self.example).trace?.traceparent == Self.example)
        #expect(Call(within: nil, traceparent: "nonsense").trace != nil, "another one begins")
        #expect(Call().trace == nil)
    }

    @Test func `the frame has the bytes of the trace in the order of their digits`() {
        let call = Call(within: nil, traceparent: Self.example)
        let bytes = withUnsafeBytes(of: call.frame.trace) { Array($0) }
        #expect(bytes[..<4] == [0x4b, 0xf9, 0x2f, 0x35] && bytes[15] == 0x36)
        #expect(bytes[16..<18] == [0x00, 0xf0] && bytes[23] == 0xb7)
        #expect(bytes[24...] == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(call.within(.seconds(1)).trace?.traceparent == Self.example)
    }
}

/// The list of the tasks of native calls.
@Suite(.timeLimit(.minutes(5)))
struct NativeCallsTests {
    private final class Listed: Sendable {
        let count = Atomic(0)
    }

    @Test(arguments: [1, 65, 500]) func `all calls are cancelled, however many`(count: Int) async {
        let calls = NativeCalls(), (listed, lists) = AsyncStream<Void>.makeStream()
        let tasks = (0..<count).map { _ in
            Task {
                let place = calls.enter()
                defer { calls.leave(place) }
                lists.yield()
                // It ends when its task is cancelled.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        var waiting = listed.makeAsyncIterator()
        for _ in 0..<count { await waiting.next() }
        calls.cancelAll()
        for task in tasks { await task.value }
        calls.free()
    }

    @Test func `a task that has left is not cancelled`() async {
        let calls = NativeCalls()
        let isCancelled = await Task {
            for _ in 0..<200 {
                let places = (0..<3).map { _ in calls.enter() }
                for place in places { calls.leave(place) }
            }
            calls.cancelAll()
            return Task.isCancelled
        }.value
        #expect(!isCancelled)
        calls.free()
    }

    @Test func `calls come and go while others are cancelled`() async {
        let calls = NativeCalls(), isOver = Listed()
        let cancelling = Task.detached {
            while isOver.count.load(ordering: .relaxed) == 0 {
                calls.cancelAll()
                await Task.yield()
            }
        }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        // Each is a task of its own, which may end as soon as it has left.
                        await Task {
                            let place = calls.enter()
                            defer { calls.leave(place) }
                            await Task.yield()
                        }.value
                    }
                }
            }
        }
        isOver.count.store(1, ordering: .relaxed)
        await cancelling.value
        let place = calls.enter()
        #expect(place != nil, "a task is there")
        calls.leave(place)
        calls.free()
    }
}
