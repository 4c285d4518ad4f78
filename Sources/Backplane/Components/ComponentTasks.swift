import CBackplane
import Synchronization

/// The tasks and timers that a component started for itself and that end with it.
///
/// A `suspend` pauses the timers (``every(_:jitter:name:limit:_:)``, ``after(_:name:limit:_:)``) but not the tasks,
/// because only the component knows which tasks must not run. It has to pause tasks that change state carried over by a
/// swap. When a swap has replaced an instance, the tasks of the old instance are cancelled on its release.
public final class ComponentTasks: Sendable {
    private struct State {
        var isStopped = false
        var next: UInt64 = 0
        var running = NumberedValues<Task<Void, Never>>()
    }
    private let state = Mutex(State())
    /// The host's timers; `nil` if there is no host or it does not offer them.
    let timers: HostTimers?

    init(_ timers: HostTimers?) { self.timers = timers }

    package convenience init() { self.init(nil) }

    /// Starts a task that is cancelled when the component stops.
    ///
    /// Does nothing once the component has stopped.
    public func run(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            let id = state.next
            state.next += 1
            let task = Task {
                await work()
                self.state.withLock { $0.running[id] = nil }
            }
            state.running[id] = task
        }
    }

    func stop() async {
        for task in cancel() { await task.value }
    }

    @discardableResult
    func cancel() -> [Task<Void, Never>] {
        let running = state.withLock { state in
            state.isStopped = true
            return state.running.values
        }
        for task in running { task.cancel() }
        return running
    }
}

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
    /// the component is suspended. The first body runs one period after the end of `activate`. Bodies of one timer
    /// never overlap: times that pass while a body runs are skipped. Times that pass while the component is suspended
    /// result in one run afterwards.
    ///
    /// A body counts as a call, so swaps, changes and stops wait for it. Errors that it throws are logged with the
    /// names of the component and the timer. All timers end with the instance.
    ///
    /// In a swap, the new instance's timer continues the old instance's timer of the same name. To do so, the new
    /// instance must add the timer before it begins to serve: in `init`, `importState` or `activate`.
    ///
    /// - Parameters:
    ///   - period: The time between two bodies, at least a millisecond.
    ///   - jitter: The maximum random delay of each body; at most the period.
    ///   - name: The name of the timer, unique in the component and at most 128 bytes long. Default: `timer 1`,
    ///     `timer 2` and so on, in the order in which such timers are added. That order then decides which timers
    ///     continue after a swap, so give a name to a timer if its phase matters.
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
    /// fired yet remains due at the same time. A timer that has fired has ended, and the new instance's timer starts
    /// from the beginning.
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

struct HostTimers: Sendable {
    private let table: ConstantPointer<bp_timers_1>
    private let component: UInt64

    init?(_ host: HostServices, component: UInt64) {
        guard let table = host.table(BP_TIMERS, revision: 1, as: bp_timers_1.self) else { return nil }
        (self.table, self.component) = (table, component)
    }

    /// Adds a timer and returns its number.
    ///
    /// - Throws: The reason why the host refuses the timer.
    func add(_ timer: TimerRequest, _ body: TimerBody) throws(BackplaneError) -> UInt64 {
        let refusal = PendingAnswer(), refused = refusal.toContext(), context = Unmanaged.passRetained(body)
        let number = (timer.name ?? "").withBytes { name in
            var own = bp_timer(
                size: UInt32(MemoryLayout<bp_timer>.size), reserved: 0, name: name,
                delay_ns: timer.delay.nanoseconds, period_ns: timer.period.nanoseconds,
                jitter_ns: timer.jitter.nanoseconds, limit_ns: timer.limit?.nanoseconds ?? 0,
                fire: { context, call, run, done, doneContext in
                    TimerBody.at(context).start(Call(copying: call), run: run, Reply(done, doneContext))
                },
                cancel: { context, run in TimerBody.at(context).cancel(run) },
                release: { Unmanaged<TimerBody>.fromOpaque($0!).release() }, context: context.toOpaque())
            return table.pointer.pointee.add(component, &own, PendingAnswer.done, refused)
        }
        guard number != 0 else {
            context.release()
            throw refusal.now?.error
                ?? BackplaneError(.timerRefused, "the host refused the timer without a reason")
        }
        return number
    }

    func remove(_ timer: UInt64) { table.pointer.pointee.remove(component, timer) }
}

struct TimerRequest: Sendable {
    var name: String?
    var delay: Duration
    /// The time between two runs of the body; zero for a timer that does not repeat.
    var period: Duration
    var jitter: Duration
    /// The time limit of a run of the body; `nil` for the host's default.
    var limit: Duration?
}

/// The body of a timer, with at most one run in flight.
final class TimerBody: Sendable {
    private let body: @Sendable (Call) async throws -> Void
    /// The run in flight.
    private let state = Mutex<(run: UInt64, task: Task<Void, Never>)?>(nil)

    init(_ body: @escaping @Sendable (Call) async throws -> Void) { self.body = body }

    static func at(_ context: UnsafeMutableRawPointer?) -> TimerBody {
        guard let context else { preconditionFailure("a timer was called without its context") }
        return Unmanaged<TimerBody>.fromOpaque(context).takeUnretainedValue()
    }

    /// Starts the body, and answers once when it has ended.
    func start(_ call: Call, run: UInt64, _ reply: Reply) {
        state.withLock { state in
            let task = Task {
                let answer: EncodedAnswer
                do {
                    try await body(call)
                    answer = EncodedAnswer([])
                } catch {
                    answer = EncodedAnswer(BackplaneError(thrown: error))
                }
                self.state.withLock { if $0?.run == run { $0 = nil } }
                reply.end(answer)
            }
            state = (run, task)
        }
    }

    func cancel(_ run: UInt64) {
        state.withLock { $0?.run == run ? $0?.task : nil }?.cancel()
    }
}

extension Duration {
    /// The duration in whole nanoseconds; a duration too long for 64 bits becomes the longest one.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowsThen) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows || overflowsThen ? (seconds < 0 ? .min : .max) : sum
    }
}
