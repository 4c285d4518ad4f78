public import CBackplane
import Glibc

/// The frame that travels with a call: its deadline, its trace and the components that it has passed through.
///
/// A component passes on the frame that it receives. It begins a new one with `context.begin()`; a host program uses
/// `host.begin(within:traceparent:)`. A frame occupies 64 bytes, and copying it has practically no cost.
@frozen
public struct Call: Sendable {
    @usableFromInline var frame: bp_call

    /// Creates the frame of a new call, without a deadline, a trace or preceding components.
    @usableFromInline
    package init() {
        frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
    }

    /// Creates the frame of a new call, which begins a trace or continues one.
    ///
    /// - Parameter traceparent: The trace that another program started; a malformed value is ignored.
    package init(within duration: Duration?, traceparent: String? = nil) {
        self.init()
        if let duration { deadline = .now + duration }
        trace = traceparent.flatMap(Trace.init(traceparent:)) ?? .random()
    }

    package init(_ frame: bp_call) {
        self.frame = frame
    }

    /// Returns the same call with at most the given time left.
    ///
    /// An earlier deadline is kept.
    public func within(_ duration: Duration) -> Call {
        var copy = self
        let limit = Deadline.now + duration
        copy.deadline = deadline.map { min($0, limit) } ?? limit
        return copy
    }

    package var withoutDeadline: Call {
        var copy = self
        copy.deadline = nil
        return copy
    }

    /// The time left until the deadline; negative once it has passed, `nil` without a deadline.
    ///
    /// Accessing this property reads the clock.
    public var timeLeft: Duration? {
        deadline.map { $0 - .now }
    }

    /// The trace that the call is a part of; `nil` for a call that was made without a frame.
    public internal(set) var trace: Trace? {
        get { Trace(frame.trace) }
        set { frame.trace = newValue?.bytes ?? bp_call().trace }
    }

    package var deadline: Deadline? {
        get { frame.deadline_ns == 0 ? nil : Deadline(nanoseconds: frame.deadline_ns) }
        set { frame.deadline_ns = newValue?.nanoseconds ?? 0 }
    }

    /// The numbers of the components that the call has passed through, the caller last.
    package var path: [UInt16] {
        withUnsafeBytes(of: frame.path) {
            Array($0.bindMemory(to: UInt16.self).prefix(Int(frame.flags & BP_CALL_PATH_COUNT)))
        }
    }

    /// Returns whether the call has passed through the component, or through too many components to know.
    package func mayHaveCome(through number: UInt16) -> Bool {
        frame.flags & BP_CALL_PATH_FULL != 0 || path.contains(number)
    }

    /// Checks that the deadline has not passed; otherwise throws `call.deadline`.
    ///
    /// Every call checks this before it begins.
    @inlinable @inline(__always)
    func checkDeadline() throws(BackplaneError) {
        if frame.deadline_ns != 0, let late = lateError() { throw late }
    }

    /// Returns `call.deadline` if the deadline has passed.
    ///
    /// The error is returned, not thrown, because ``checkDeadline()`` is inlined into asynchronous functions. The
    /// optimiser of Swift 6.3.1 crashes on some asynchronous functions that call a synchronous throwing function.
    @usableFromInline
    func lateError() -> BackplaneError? {
        guard let deadline, deadline <= .now else { return nil }
        return .deadlinePassed(before: "the call began")
    }
}

extension BackplaneError {
    package static func deadlinePassed(before event: String) -> BackplaneError {
        BackplaneError(.callDeadline, "the call's deadline passed before \(event)")
    }
}

/// Runs an operation, such as a call of a native wire, until the deadline of a call.
///
/// ```swift
/// let found = try await withDeadline(call) { try await wires.library.search(query, call) }
/// ```
///
/// A method that is called natively runs in its caller's task, which the deadline does not end. This function cancels
/// the operation when the deadline of `call` passes, and throws an error without waiting for the operation. An
/// operation that ignores its cancellation continues, and its result is discarded.
///
/// Without a deadline the operation runs in the caller's task at no extra cost. With a deadline it runs in a separate
/// task, with the caller's priority and task-local values, and another task sleeps until the deadline.
///
/// - Throws: `call.deadline`; otherwise the operation's error.
public func withDeadline<Value: Sendable>(
    _ call: Call, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let timeLeft = call.timeLeft else { return try await operation() }
    try call.checkDeadline()
    let (results, first) = AsyncStream.makeStream(
        of: Result<Value, any Error>.self, bufferingPolicy: .bufferingOldest(1))
    let work = Task {
        do { first.yield(.success(try await operation())) } catch { first.yield(.failure(error)) }
    }
    let timer = Task {
        do { try await Task.sleep(for: timeLeft) } catch { return }
        first.yield(.failure(BackplaneError.deadlinePassed(before: "the operation ended")))
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    // In a separate task: a stream ends for a cancelled task, but the operation's result is needed.
    let result = Task {
        for await result in results { return result }
        return .failure(CancellationError())
    }
    return try await withTaskCancellationHandler {
        await result.value
    } onCancel: {
        work.cancel()
    }.get()
}

/// An instant on the clock that both sides of the boundary share: `CLOCK_MONOTONIC`, in nanoseconds.
package struct Deadline: Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static var now: Deadline {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func < (a: Deadline, b: Deadline) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant that is `duration` later.
    ///
    /// The sum saturates: a duration too long for the clock results in its last instant, which is never reached.
    package static func + (deadline: Deadline, duration: Duration) -> Deadline {
        let (sum, overflows) = deadline.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Deadline(nanoseconds: overflows ? (duration < .zero ? 1 : .max) : max(sum, 1))
    }

    package static func - (a: Deadline, b: Deadline) -> Duration {
        .nanoseconds(a.nanoseconds) - .nanoseconds(b.nanoseconds)
    }
}

/// A clock by which time limits, deadlines and pauses are measured.
package protocol DeadlineClock: AnyObject, Sendable {
    var moment: Deadline { get }
    /// Runs `action` at the given time, or soon after it if the time has passed.
    func schedule(_ id: UInt64, at time: Deadline, _ action: @escaping @Sendable () -> Void)
    /// Withdraws an action that has not started.
    func cancel(_ id: UInt64)
}

extension DeadlineClock {
    /// Returns the time left until the deadline of a call; `nil` without a deadline.
    package func timeLeft(of call: Call) -> Duration? { call.deadline.map { $0 - moment } }
}

extension Call {
    @inlinable
    package func withC<Result>(_ body: (UnsafePointer<bp_call>) -> Result) -> Result {
        withUnsafePointer(to: frame, body)
    }

    /// Copies a borrowed frame; `nil` begins a new call.
    package init(copying frame: UnsafePointer<bp_call>?) {
        self.init()
        if let frame { self.frame = frame.pointee }
    }
}

extension Double {
    package static var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
