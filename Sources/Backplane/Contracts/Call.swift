public import CBackplane

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
    /// - Parameter traceparent: The trace that another program started; a malformed one is ignored.
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
    /// The error is returned, not thrown: ``checkDeadline()`` is inlined into asynchronous functions, and the optimiser
    /// of Swift 6.3.1 crashes on some of those that call a synchronous function that throws.
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
