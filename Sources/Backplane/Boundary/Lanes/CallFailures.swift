import Synchronization

/// The calls of an instance that have ended with an error, and those in flight if a swap may have to cancel them.
///
/// Successful calls do not touch it.
///
/// It is an object, because a value in ``Held`` would be destroyed by the runtime, which would look for the
/// conformances of its parts.
@usableFromInline
final class CallFailures: Sendable {
    /// The number of failed calls, and the error of the last one with its time in seconds since 1970.
    struct Tally: Sendable {
        var count: UInt64 = 0
        var last: (error: BackplaneError, time: Double)?
    }
    private struct State {
        var tally = Tally()
        var observer: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// The list of the calls in flight; `nil` if they never have to be cancelled.
    @usableFromInline let calls: NativeCalls?
    /// The flag that is set while the component is suspended or about to be.
    let isSuspended = Atomic<Bool>(false)

    init(_ calls: NativeCalls?) { self.calls = calls }

    var tally: Tally { state.withLock(\.tally) }

    /// Sets the function that is called, under the lock, after each failed call.
    ///
    /// Once this has returned, an earlier function is not being called and will not be.
    func observe(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.observer = observer } }

    /// Records the error of a stream's body as ``recording(_:)`` does, unless it is an interruption; once the component
    /// is suspended, the stream counts as interrupted.
    @inline(never) @usableFromInline
    func recordingUnlessInterrupted(_ error: any Error) -> BackplaneError {
        if isSuspended.load(ordering: .relaxed) { return .streamInterrupted }
        let error = BackplaneError(thrown: error)
        return error.code == .streamInterrupted ? error : recording(error)
    }

    /// Returns an interruption once the component is suspended: a body that returns then may not have sent everything.
    ///
    /// It is returned, not thrown, for the same reason as `Call.lateError()`.
    @inline(never) @usableFromInline
    func interruption() -> BackplaneError? {
        isSuspended.load(ordering: .relaxed) ? .streamInterrupted : nil
    }

    /// Records an error, unless the call was cancelled, and returns it as the caller receives it.
    @inline(never) @usableFromInline
    func recording(_ error: any Error) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        guard error.code != .callCancelled else { return error }
        let time = Double.secondsSince1970
        state.withLock { state in
            state.tally.count &+= 1
            state.tally.last = (error, time)
            state.observer?()
        }
        return error
    }
}
