public import CBackplane

/// The frame that travels with a call: its deadline, its trace and the components it came through.
///
/// A component passes on the one it was given. A call that begins with it starts from `context.begin()`, a host program's
/// from `host.begin(within:)`. 64 bytes; copying it costs nothing to speak of.
@frozen
public struct Call: Sendable {
    @usableFromInline var frame: bp_call

    /// A call that begins here: no deadline, no trace, nobody before it.
    @usableFromInline
    package init() {
        frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
    }

    package init(within duration: Duration?) {
        self.init()
        if let duration { deadline = .now + duration }
    }

    package init(_ frame: bp_call) {
        self.frame = frame
    }

    /// The same call with at most this much time left.
    public func within(_ duration: Duration) -> Call {
        var copy = self
        let limit = Deadline.now + duration
        copy.deadline = deadline.map { min($0, limit) } ?? limit
        return copy
    }

    /// How much time is left; negative once the deadline has passed, `nil` without one. Reads the clock.
    public var timeLeft: Duration? {
        deadline.map { $0 - .now }
    }

    package var deadline: Deadline? {
        get { frame.deadline_ns == 0 ? nil : Deadline(nanoseconds: frame.deadline_ns) }
        set { frame.deadline_ns = newValue?.nanoseconds ?? 0 }
    }

    /// The numbers of the components it came through, the caller last.
    package var path: [UInt16] {
        withUnsafeBytes(of: frame.path) { Array($0.bindMemory(to: UInt16.self).prefix(Int(frame.flags & BP_CALL_PATH_COUNT))) }
    }

    /// Did it come through a component, or through so many that nobody knows?
    package func mayHaveCome(through number: UInt16) -> Bool {
        frame.flags & BP_CALL_PATH_FULL != 0 || path.contains(number)
    }

    /// Throws when the deadline has passed: what every call does before it begins.
    @inlinable @inline(__always)
    func checkDeadline() throws(BackplaneError) {
        if frame.deadline_ns != 0 { try throwIfLate() }
    }

    @usableFromInline
    func throwIfLate() throws(BackplaneError) {
        if let deadline, deadline <= .now { throw .deadlinePassed(before: "the call began") }
    }
}

extension BackplaneError {
    package static func deadlinePassed(before event: String) -> BackplaneError {
        BackplaneError(.callDeadline, "the call's deadline passed before \(event)")
    }
}
