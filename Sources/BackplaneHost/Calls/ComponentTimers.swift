import Backplane
import Synchronization

/// The timers of one component.
///
/// The clock knows each timer with a due time by the timer's number. A running body counts as a call of the component.
final class ComponentTimers: Sendable {
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
        var added = 0
        var unnamed = 0
        var calls: ComponentCalls?
        var bodies = 0
        /// The error with which all bodies have been ended; none begins any more.
        var ending: BackplaneError?
    }
    struct Timer {
        let name: String
        /// The place in the order of addition.
        let place: Int
        /// Whether the name is a default name, which depends on the order of addition.
        let isUnnamed: Bool
        var timing: TimerTiming
        let jitter: Int64
        let limit: Duration
        let functions: TimerFunctions
        /// The time for which the timer is scheduled, if it is.
        var due: Deadline?
        /// Whether the plugin has not answered the last body.
        var isRunning = false
        /// The number of the body for which the host waits.
        var run: UInt64?
        /// Whether the timer ends with the running body.
        var isRemoved = false
        /// The running body, until the host no longer waits for it.
        var body: TimerBody?
        /// The body of an older instance's timer for which this timer waits.
        var earlier: TimerBody?
        var runs = 0
        var failures = 0
    }
    let component: String
    let clock: any HostClock
    let log: any LogSink
    let state = Mutex(State())

    init(of component: String, clock: any HostClock, log: any LogSink) {
        (self.component, self.clock, self.log) = (component, clock, log)
    }

    /// Sets the calls among which bodies are counted, once the instance has been created.
    func attach(_ calls: ComponentCalls) {
        state.withLock { $0.calls = calls }
    }
}

extension ComponentTimers {
    /// Adds a timer and returns its number.
    ///
    /// - Parameter functions: A function that returns the plugin's functions; not called for a timer that is refused.
    /// - Throws: `timer.refused` with the reason; `call.retired` if the component has stopped.
    func add(_ request: Request, _ functions: () -> TimerFunctions) throws(BackplaneError) -> UInt64 {
        try request.requireValid()
        let number = Callbacks.newID(), now = clock.moment
        try state.withLock { state throws(BackplaneError) in
            if case .ended = state.phase {
                throw BackplaneError(.callRetired, "\(component) has stopped, and its timers with it")
            }
            guard state.timers.count < Self.limit else {
                throw BackplaneError(
                    .timerRefused,
                    "\(component) already has \(Self.limit) timers, which is the limit; cancel some of them, or "
                        + "use one timer for several tasks")
            }
            let isUnnamed = request.name.isEmpty
            let name = isUnnamed ? state.nextName() : request.name
            guard state.numbers[name] == nil else {
                throw BackplaneError(
                    .timerRefused,
                    "\(component) already has a timer `\(name)`; cancel that one first, or choose another name")
            }
            state.added += 1
            var timer = Timer(
                name: name, place: state.added, isUnnamed: isUnnamed,
                timing: TimerTiming(
                    delay: request.delay == 0 ? request.period : request.delay, period: request.period),
                jitter: request.jitter,
                limit: request.limit == 0 ? Self.bodyLimit : .nanoseconds(request.limit), functions: functions())
            if case .waiting = state.phase {} else { timer.timing.begin(at: now) }
            state.timers[number] = timer
            state.numbers[name] = number
            schedule(number, &state)
        }
        return number
    }

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
            if timer.due != nil { clock.cancel(number) }
            return state.forget(number)
        }
        withExtendedLifetime(removed) {}
    }
}

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

extension ComponentTimers {
    /// Starts the timers, each in phase with the older instance's timer of the same name.
    ///
    /// - Parameter old: The timers of the older instance, which must be held.
    /// - Returns: The names of the older instance's one-shot timers that have yet to fire and that this instance does
    ///   not have.
    @discardableResult
    func begin(continuing old: ComponentTimers? = nil) -> [String] {
        // Released outside the lock, since the plugin's `release` may call back.
        let now = clock.moment, old = old?.handed ?? []
        defer { withExtendedLifetime(old) {} }
        return state.withLock { state in
            guard state.phase != .ended, state.phase != .serving else { return [] }
            var left: [String] = []
            for handed in old {
                guard let number = state.numbers[handed.name], let own = state.timers[number],
                    own.isUnnamed == handed.isUnnamed, !own.isUnnamed || own.timing.period == handed.timing.period
                else {
                    if !handed.timing.repeats, handed.timing.next != nil { left.append(handed.name) }
                    continue
                }
                _ = state.timers[number]?.timing.continue(handed.timing, at: now)
                if let body = handed.body ?? handed.earlier, body.isAwaited(by: self, handed.name) {
                    state.timers[number]?.earlier = body
                }
            }
            state.phase = .serving
            for number in state.timers.keys {
                state.timers[number]?.timing.begin(at: now)
                schedule(number, &state)
            }
            return left.sorted()
        }
    }

    /// Stops beginning bodies until ``begin(continuing:)``; running bodies are included in the component's count of
    /// calls.
    func hold() {
        state.withLock { state in
            guard state.phase == .serving else { return }
            state.phase = .held
            withdrawAll(&state)
        }
    }

    /// Permanently ends all timers; running bodies continue.
    func end() {
        let removed = state.withLock { state -> [Timer] in
            state.phase = .ended
            withdrawAll(&state)
            var removed: [Timer] = []
            for (number, timer) in state.timers {
                if timer.isRunning {
                    state.timers[number]?.isRemoved = true
                } else {
                    removed.append(timer)
                    state.forget(number)
                }
            }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// The timers that a newer instance continues.
    private var handed: [Timer] { state.withLock { $0.timers.values.filter { !$0.isRemoved } } }

    /// Unblocks a timer that was waiting for a body of an older instance.
    func unblock(_ name: String) {
        let now = clock.moment
        state.withLock { state in
            guard let number = state.numbers[name] else { return }
            state.timers[number]?.earlier = nil
            state.timers[number]?.timing.skip(to: now)
            schedule(number, &state)
        }
    }
}

extension ComponentTimers {
    /// Schedules a timer, if it may fire.
    private func schedule(_ number: UInt64, _ state: inout State) {
        guard case .serving = state.phase, let timer = state.timers[number], let next = timer.timing.next,
            !timer.isRunning, timer.earlier == nil, timer.due == nil
        else { return }
        let jitter = timer.jitter > 0 && clock.hasJitter ? Int64.random(in: 0...timer.jitter) : 0
        let due = Deadline(nanoseconds: next.nanoseconds + jitter)
        state.timers[number]?.due = due
        clock.schedule(number, at: due) { [self] in
            if let (body, functions) = take(number) { fire(body, functions) }
        }
    }

    private func withdrawAll(_ state: inout State) {
        for (number, timer) in state.timers where timer.due != nil {
            clock.cancel(number)
            state.timers[number]?.due = nil
        }
    }

    /// Takes a timer that is due, and counts its body among the calls of the component.
    private func take(_ number: UInt64) -> (TimerBody, TimerFunctions)? {
        state.withLock { state in
            let now = clock.moment
            // The timer may have been held since, and scheduled again for a later time.
            guard case .serving = state.phase, let timer = state.timers[number], let due = timer.due, due <= now,
                let calls = state.calls
            else { return nil }
            let body = TimerBody(number, timer, of: self, calls)
            state.timers[number]?.due = nil
            state.timers[number]?.isRunning = true
            state.timers[number]?.runs += 1
            state.timers[number]?.timing.pass(now)
            // A body may add its timer again.
            if state.timers[number]?.timing.next == nil { state.freeName(of: number) }
            state.timers[number]?.body = body
            // Counted here, so that a body has either begun or never begins once the timers are held.
            calls.enter()
            state.bodies += 1
            return (body, timer.functions)
        }
    }

    private func fire(_ body: TimerBody, _ functions: TimerFunctions) {
        let calls = body.calls, deadline = clock.moment + body.limit
        calls.enter()
        defer { calls.leave() }  // a plugin may answer before it returns
        clock.bodyBegins()
        calls.instance.claim()
        let run = Callbacks.expectCall(
            by: body, 0, Reply { [self] in ended(body, EncodedAnswer($0, $1)) }, hasDeadline: true)
        let ending = state.withLock { state in
            if state.timers[body.timer]?.body === body { state.timers[body.timer]?.run = run }
            return state.ending
        }
        if let ending { return Callbacks.refuseCall(run, EncodedAnswer(ending)) }
        clock.schedule(run, at: deadline) {
            calls.enter()
            defer { calls.leave() }
            let error = BackplaneError(
                .callDeadline,
                "the body took longer than \(body.limit) and was cancelled; raise the timer's limit, or do less in its body"
            )
            if Callbacks.end(run, EncodedAnswer(error)) { functions.cancel(run) }
        }
        // All bodies may have been ended before there was a deadline to cancel.
        if Callbacks.isOwed(run) { clock.cancel(run) }
        var call = body.call
        call.deadline = deadline
        functions.fire(call, run: run)
        // The deadline may have passed before the plugin knew of the body, in which case the cancellation had no
        // effect.
        if Callbacks.isOwed(run) { functions.cancel(run) }
    }

    /// Records that a body is no longer awaited because it has ended or its deadline has passed.
    private func ended(_ body: TimerBody, _ answer: EncodedAnswer) {
        let error = answer.isFailure ? answer.error : nil
        state.withLock { state in
            // If the answer came earlier, the next body may already have begun.
            if state.timers[body.timer]?.body === body {
                state.timers[body.timer]?.run = nil
                state.timers[body.timer]?.body = nil
            }
            if error != nil { state.timers[body.timer]?.failures += 1 }
            state.bodies -= 1
        }
        body.end()
        if let error, log.isEnabled(.error) {
            var metadata = ["component": component, "timer": body.name, "error": error.description]
            metadata["trace"] = body.call.trace?.id
            log.report(.error, "timer failed", metadata)
        }
        clock.bodyEnded()
        body.calls.leave()
    }

    /// Records that the plugin has answered a body, possibly after its deadline, so that the next one may begin.
    fileprivate func answered(_ number: UInt64) {
        let now = clock.moment
        let removed = state.withLock { state -> Timer? in
            guard let timer = state.timers[number] else { return nil }
            state.timers[number]?.isRunning = false
            state.timers[number]?.timing.skip(to: now)
            guard !timer.isRemoved, timer.timing.next != nil else { return state.forget(number) }
            schedule(number, &state)
            return nil
        }
        withExtendedLifetime(removed) {}
    }
}

/// A running body of a timer, for whose end the timers of newer instances wait.
final class TimerBody: CallOwner {
    private struct State {
        /// The plugin's functions, retained until it has answered.
        var functions: TimerFunctions?
        var isOver = false
        var waiting: [(timers: ComponentTimers, name: String)] = []
    }
    let timer: UInt64
    let name: String
    let limit: Duration
    let calls: ComponentCalls
    /// The frame of the body's calls, with a trace of its own.
    let call = Call(within: nil)
    private let timers: ComponentTimers
    private let state: Mutex<State>

    init(_ number: UInt64, _ timer: ComponentTimers.Timer, of timers: ComponentTimers, _ calls: ComponentCalls) {
        (self.timer, name, limit, self.calls, self.timers) = (number, timer.name, timer.limit, calls, timers)
        state = Mutex(State(functions: timer.functions))
    }

    /// Registers a timer to be notified of the end, or returns `false` if the body has ended.
    func isAwaited(by timers: ComponentTimers, _ name: String) -> Bool {
        state.withLock { state in
            if !state.isOver { state.waiting.append((timers, name)) }
            return !state.isOver
        }
    }

    /// Notifies the waiting timers that the host no longer waits for the body.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for (timers, name) in waiting { timers.unblock(name) }
    }

    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _: () -> EncodedAnswer) {
        timers.clock.cancel(id)
    }

    func pluginAnswered() {
        timers.answered(timer)
        withExtendedLifetime(state.withLock { $0.functions.take() }) {}
        calls.instance.release()
    }
}

extension EncodedAnswer {
    fileprivate var isFailure: Bool { status != 0 && error.code != .callCancelled }
}

extension ComponentTimers {
    /// Returns at most `limit` timers in the order in which they were added, and the total number of timers.
    func statistics(limit: Int) -> (timers: [TimerStatistics], count: Int) {
        let now = clock.moment
        return state.withLock { state in
            let shown = state.timers.values.sorted { $0.place < $1.place }.prefix(limit).map { timer in
                TimerStatistics(
                    name: timer.name,
                    period: timer.timing.repeats ? .nanoseconds(timer.timing.period) : nil,
                    next: (timer.due ?? timer.timing.next).map { max(.zero, $0 - now) }, runs: timer.runs,
                    failures: timer.failures, isRunning: timer.isRunning)
            }
            return (shown, state.timers.count)
        }
    }

    var isBusy: Bool { state.withLock { state in state.bodies > 0 } }

    var namesInFlight: [String] {
        state.withLock { state in state.timers.values.filter { $0.run != nil }.map(\.name).sorted() }
    }

    var bodiesInFlight: Set<UInt64> { Set(running.map(\.run)) }

    /// Cancels the running bodies, which continue to count until the plugin answers.
    func cancelBodies() {
        // The plugin's function may not return. A plugin ignores the number of a body that has ended in the meantime.
        let work = PluginWork()
        for (run, functions) in running {
            work.begin(by: clock.polls) { [self] in if bodiesInFlight.contains(run) { functions.cancel(run) } }
        }
    }

    /// Answers the running bodies with an error, and cancels them in the plugin.
    func endBodies(_ error: BackplaneError) {
        state.withLock { $0.ending = error }
        let work = PluginWork()
        for (run, functions) in running where Callbacks.end(run, EncodedAnswer(error)) {
            // The plugin's function may not return.
            work.begin(by: clock.polls) { if Callbacks.isOwed(run) { functions.cancel(run) } }
        }
    }

    private var running: [(run: UInt64, functions: TimerFunctions)] {
        state.withLock { state in state.timers.values.compactMap { timer in timer.run.map { ($0, timer.functions) } } }
    }
}

extension ComponentTimers {
    struct Request {
        /// The name; empty for a default name, which depends on the order of addition.
        var name: String
        var delay, period, jitter, limit: Int64
    }
}

extension ComponentTimers.Request {
    /// The maximum duration of a timer: ten years.
    private static var longest: Int64 { 10 * 366 * 86_400 * 1_000_000_000 }

    /// - Throws: `timer.refused` with the reason.
    func requireValid() throws(BackplaneError) {
        func refuse(_ reason: String) throws(BackplaneError) {
            let name = name.isEmpty ? "a timer without a name" : "timer `\(name.prefix(128))`"
            throw BackplaneError(.timerRefused, "\(name): \(reason)")
        }
        if name.utf8.count > 128 { try refuse("the name has \(name.utf8.count) bytes; at most 128 are allowed") }
        for (value, what) in [(delay, "delay"), (period, "period"), (jitter, "jitter"), (limit, "limit")] {
            guard (0...Self.longest).contains(value) else {
                return try refuse("the \(what) must be from 0 to ten years, but is \(Duration.nanoseconds(value))")
            }
        }
        if period > 0, period < 1_000_000 {
            try refuse("the period must be at least 1 ms, but is \(Duration.nanoseconds(period))")
        }
        if jitter > 0, jitter > max(period, delay) {
            try refuse(
                "the jitter of \(Duration.nanoseconds(jitter)) is longer than the period of \(Duration.nanoseconds(period))"
            )
        }
    }
}
