import Backplane
import BackplaneBoundary
import Synchronization

/// The timers of one component.
///
/// The clock knows only the earliest timer. When that is due, a thread of the clock begins the bodies of all due
/// timers, one after another. A running body is counted among the calls of the component.
final class ComponentTimers: Sendable {
    /// The maximum number of timers of one component.
    static let limit = 10_000

    enum Phase {
        /// The component is being created or activated, or is not serving yet.
        case waiting
        case serving
        /// The component is suspended, or about to be.
        case held
        case ended
    }
    struct State {
        var phase = Phase.waiting
        var timers: [UInt64: Timer] = [:]
        var numbers: [String: UInt64] = [:]
        var queue = DueQueue()
        var unnamed = 0
        var calls: ComponentCalls?
        /// The pending wake-up.
        var alarm: (id: UInt64, due: Deadline)?
        /// A Boolean value that indicates whether a thread is currently beginning bodies.
        var isFiring = false
        /// The number of bodies that are awaited.
        var bodies = 0
        /// The error with which all bodies have been ended; none begins any more.
        var ending: BackplaneError?
    }
    struct Timer {
        let name: String
        /// A Boolean value that indicates whether the name is a default name, which depends on the order of addition.
        let isUnnamed: Bool
        var timing: TimerTiming
        let jitter: Int64
        let limit: Duration
        let functions: TimerFunctions
        /// The time in the queue; `nil` while the timer is not queued.
        var due: Deadline?
        /// A Boolean value that indicates whether the plugin has not answered the last body.
        var isRunning = false
        /// The number of the body for which the host waits.
        var run: UInt64?
        /// A Boolean value that indicates whether the timer ends with the running body.
        var isRemoved = false
        /// The running body, until the host no longer waits for it.
        var body: TimerBodyInFlight?
        /// The body of an older instance's timer for which this timer waits.
        var earlier: TimerBodyInFlight?
        var runs = 0
        var failures = 0
    }
    let component: String
    let clock: any TimerClock
    let deadlines: DeadlineTimer
    let log: any LogSink
    let state = Mutex(State())

    init(of component: String, clock: any TimerClock, deadlines: DeadlineTimer, log: any LogSink) {
        (self.component, self.clock, self.deadlines, self.log) = (component, clock, deadlines, log)
    }

    /// Sets the calls among which bodies are counted, once the instance has been created.
    func attach(_ calls: ComponentCalls) {
        state.withLock { $0.calls = calls }
    }
}

// MARK: Adding and removing

extension ComponentTimers {
    /// Adds a timer and returns its number.
    ///
    /// - Parameter functions: A function that returns the plugin's functions; not called for a timer that is refused.
    /// - Throws: `timer.refused` with the reason; `call.retired` if the component has stopped.
    func add(_ request: Request, _ functions: () -> TimerFunctions) throws(BackplaneError) -> UInt64 {
        try request.requireValid()
        let number = Callbacks.newID(), now = clock.moment
        let outcome: Result<Void, BackplaneError> = state.withLock { state in
            if case .ended = state.phase {
                return .failure(BackplaneError(.callRetired, "\(component) has stopped, and its timers with it"))
            }
            guard state.timers.count < Self.limit else {
                return .failure(
                    BackplaneError(
                        .timerRefused,
                        "\(component) already has \(Self.limit) timers, which is the limit; cancel some of them, or "
                            + "use one timer for several tasks"
                    ))
            }
            let isUnnamed = request.name.isEmpty
            let name = isUnnamed ? state.nextName() : request.name
            guard state.numbers[name] == nil else {
                return .failure(
                    BackplaneError(
                        .timerRefused,
                        "\(component) already has a timer `\(name)`; cancel that one first, or choose another name"))
            }
            var timer = Timer(
                name: name, isUnnamed: isUnnamed,
                timing: TimerTiming(
                    delay: request.delay == 0 ? request.period : request.delay, period: request.period),
                jitter: request.jitter,
                limit: request.limit == 0 ? Self.bodyLimit : .nanoseconds(request.limit), functions: functions())
            if case .waiting = state.phase {} else { timer.timing.begin(at: now) }
            state.timers[number] = timer
            state.numbers[name] = number
            enqueue(number, &state)
            setAlarm(&state)
            return .success(())
        }
        try outcome.get()
        return number
    }

    /// The default time limit of a body.
    static var bodyLimit: Duration { .seconds(60) }

    /// Ends a timer; a running body continues.
    func remove(_ number: UInt64) {
        // Released outside the lock, since the plugin's `release` may call back.
        let removed = state.withLock { state -> Timer? in
            guard let timer = state.timers[number] else { return nil }
            if timer.isRunning {
                state.timers[number]?.isRemoved = true
                state.freeName(of: number)
                return nil
            }
            return state.forget(number)
        }
        withExtendedLifetime(removed) {}
    }
}

// MARK: Names

extension ComponentTimers.State {
    mutating func nextName() -> String {
        repeat { unnamed += 1 } while numbers["timer \(unnamed)"] != nil
        return "timer \(unnamed)"
    }

    @discardableResult
    mutating func forget(_ number: UInt64) -> ComponentTimers.Timer? {
        freeName(of: number)
        return timers.removeValue(forKey: number)
    }

    mutating func freeName(of number: UInt64) {
        if let name = timers[number]?.name, numbers[name] == number { numbers[name] = nil }
    }
}
