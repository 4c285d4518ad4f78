/// A timer of a component, managed by the host.
///
/// ``ComponentTasks/every(_:jitter:name:limit:_:)`` and ``ComponentTasks/after(_:name:limit:_:)`` add it. It ends with
/// ``cancel()``, with its component's instance and, if it does not repeat, with its body. It need not be stored.
public struct ComponentTimer: Sendable {
    private let host: HostTimers?
    private let number: UInt64

    init(_ number: UInt64, of host: HostTimers?) { (self.number, self.host) = (number, host) }

    /// Ends the timer; a running body continues.
    ///
    /// Does nothing if the timer has ended.
    public func cancel() { host?.remove(number) }
}

extension ComponentTasks {
    /// Adds a timer that runs a body repeatedly.
    ///
    /// ```swift
    /// try context.tasks.every(.seconds(30), jitter: .seconds(2)) { call in
    ///     try await self.refresh(call)
    /// }
    /// ```
    ///
    /// The host manages the timer. It fires while the component serves: from the end of `activate` on, and not while
    /// the component is suspended. The first body runs one period after that. Bodies of one timer never overlap: times
    /// that pass while a body runs are skipped, and one run makes up for those that pass while the component is
    /// suspended.
    ///
    /// A body counts as a call, so that swaps, changes and stops wait for it; errors that it throws are logged with the
    /// names of the component and the timer. In a swap the new instance's timer continues the old instance's timer of
    /// the same name, if the new instance adds it before it begins to serve: in `init`, `importState` or `activate`.
    /// All timers end with the instance.
    ///
    /// - Parameters:
    ///   - period: The time between two bodies, at least a millisecond.
    ///   - jitter: The maximum random delay of each body; at most the period.
    ///   - name: The name of the timer, unique in the component and at most 128 bytes long. Default: `timer 1`,
    ///     `timer 2` and so on, in the order in which such timers are added. The order determines which timer continues
    ///     which after a swap, so name timers whose phase matters.
    ///   - limit: The time limit of a body, after which it is cancelled and abandoned. Default: one minute.
    ///   - body: A function that receives the frame to pass on to calls, with the deadline.
    /// - Returns: The timer, to cancel it.
    /// - Throws: `timer.refused` for an invalid value, a name in use, or more than 10,000 timers; `call.retired` after
    ///   the component has stopped; `host.interface-missing` if the host does not offer timers.
    @discardableResult
    public func every(
        _ period: Duration, jitter: Duration = .zero, name: String? = nil, limit: Duration? = nil,
        _ body: @escaping @Sendable (Call) async throws -> Void
    ) throws(BackplaneError) -> ComponentTimer {
        guard period > .zero else {
            throw BackplaneError(.timerRefused, "a timer's period must be at least 1 ms, but is \(period)")
        }
        return try add(TimerRequest(name: name, delay: period, period: period, jitter: jitter, limit: limit), body)
    }

    /// Adds a timer that runs a body once.
    ///
    /// The notes on ``every(_:jitter:name:limit:_:)`` also apply here. In a swap, a timer of the same name that has not
    /// fired yet remains due at the same time; a timer that has fired has ended, and the new instance's timer starts
    /// anew.
    ///
    /// - Parameters:
    ///   - delay: The time until the body runs.
    ///   - name: The name of the timer, unique in the component and at most 128 bytes long. Default: `timer 1` and so
    ///     on, in the order in which such timers are added.
    ///   - limit: The time limit of the body, after which it is cancelled and abandoned. Default: one minute.
    ///   - body: A function that receives the frame to pass on to calls, with the deadline.
    /// - Returns: The timer, to cancel it.
    /// - Throws: `timer.refused` for an invalid value, a name in use, or more than 10,000 timers; `call.retired` after
    ///   the component has stopped; `host.interface-missing` if the host does not offer timers.
    @discardableResult
    public func after(
        _ delay: Duration, name: String? = nil, limit: Duration? = nil,
        _ body: @escaping @Sendable (Call) async throws -> Void
    ) throws(BackplaneError) -> ComponentTimer {
        try add(TimerRequest(name: name, delay: delay, period: .zero, jitter: .zero, limit: limit), body)
    }

    private func add(_ timer: TimerRequest, _ body: @escaping @Sendable (Call) async throws -> Void)
        throws(BackplaneError) -> ComponentTimer
    {
        if let limit = timer.limit, limit <= .zero {
            throw BackplaneError(.timerRefused, "a timer's limit must be positive, but is \(limit)")
        }
        guard let timers else {
            throw BackplaneError(.interfaceMissing, "the host does not offer timers, or there is no host")
        }
        return ComponentTimer(try timers.add(timer, TimerBody(body)), of: timers)
    }
}
