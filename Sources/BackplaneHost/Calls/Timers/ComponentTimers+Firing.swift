import Backplane
import BackplaneBoundary
import Synchronization

extension ComponentTimers {
    /// Queues a timer until its time.
    func enqueue(_ number: UInt64, _ state: inout State) {
        guard case .serving = state.phase, let timer = state.timers[number], let next = timer.timing.next,
            !timer.isRunning, timer.earlier == nil, timer.due == nil
        else { return }
        let jitter = timer.jitter > 0 && clock.hasJitter ? Int64.random(in: 0...timer.jitter) : 0
        let due = Deadline(nanoseconds: next.nanoseconds + jitter)
        state.timers[number]?.due = due
        state.queue.insert((due, number))
        // Timers that were removed leave their places behind.
        if state.queue.count > 64, state.queue.count > 2 * state.timers.count {
            let timers = state.timers
            state.queue.keep { timers[$0.timer]?.due == $0.due }
        }
    }

    /// Sets the clock to wake this component at its earliest time.
    func setAlarm(_ state: inout State) {
        guard case .serving = state.phase, !state.isFiring else { return }
        while let first = state.queue.first, state.timers[first.timer]?.due != first.due { state.queue.removeFirst() }
        guard let first = state.queue.first else { return withdrawAlarm(&state) }
        if let alarm = state.alarm {
            if alarm.due <= first.due { return }
            withdrawAlarm(&state)
        }
        let id = Callbacks.newID()
        state.alarm = (id, first.due)
        clock.schedule(id, at: first.due) { [self] in wake(id) }
    }

    func withdrawAlarm(_ state: inout State) {
        if let alarm = state.alarm.take() { clock.cancel(alarm.id) }
    }

    private func wake(_ alarm: UInt64) {
        let fires = state.withLock { state in
            guard state.alarm?.id == alarm else { return false }
            state.alarm = nil
            state.isFiring = true
            return true
        }
        if fires { while let next = next() { fire(next) } }
    }

    /// A body that is about to run.
    private struct Firing {
        let timer: UInt64
        let name: String
        let limit: Duration
        let functions: TimerFunctions
        let calls: ComponentCalls
        let body = TimerBodyInFlight()
        /// The frame of the body's calls, with a trace of its own.
        let call = Call(within: nil)
    }

    /// Removes the next timer that is due, and counts its body among the calls of the component.
    private func next() -> Firing? {
        state.withLock { state in
            let now = clock.moment
            while case .serving = state.phase, let first = state.queue.first, first.due <= now {
                state.queue.removeFirst()
                guard let timer = state.timers[first.timer], timer.due == first.due, let calls = state.calls else {
                    continue
                }
                state.timers[first.timer]?.due = nil
                state.timers[first.timer]?.isRunning = true
                state.timers[first.timer]?.runs += 1
                state.timers[first.timer]?.timing.pass(now)
                // A body may add its timer again.
                if state.timers[first.timer]?.timing.next == nil { state.freeName(of: first.timer) }
                let firing = Firing(
                    timer: first.timer, name: timer.name, limit: timer.limit, functions: timer.functions, calls: calls)
                state.timers[first.timer]?.body = firing.body
                // Counted here, so that a body has either begun or never begins once the timers are held.
                calls.enter()
                state.bodies += 1
                return firing
            }
            state.isFiring = false
            setAlarm(&state)
            return nil
        }
    }

    private func fire(_ firing: Firing) {
        let calls = firing.calls, deadline = Deadline.now + firing.limit
        calls.enter()
        defer { calls.leave() }  // a plugin may answer before it returns
        clock.bodyBegins()
        calls.instance.claim()
        let owner = TimerRun(firing.timer, firing.functions, of: self, calls.instance)
        let run = Callbacks.expectCall(
            by: owner, 0, Reply { [self] in ended(firing, EncodedAnswer($0, $1)) }, hasDeadline: true)
        let ending = state.withLock { state in
            if state.timers[firing.timer]?.body === firing.body { state.timers[firing.timer]?.run = run }
            return state.ending
        }
        if let ending { return Callbacks.refuseCall(run, EncodedAnswer(ending)) }
        deadlines.schedule(run, at: deadline) { [self] in
            giveUp(
                run, firing,
                BackplaneError(
                    .callDeadline,
                    "the body took longer than \(firing.limit) and was cancelled; raise the timer's limit, or do less in its body"
                ))
        }
        // The end of all bodies may have come before there was a deadline to cancel.
        if Callbacks.isOwed(run) { deadlines.cancel(run) }
        var call = firing.call
        call.deadline = deadline
        firing.functions.fire(call, run: run)
        // The deadline may have passed before the plugin knew of the body, so that the cancellation had no effect.
        if Callbacks.isOwed(run) { firing.functions.cancel(run) }
    }

    /// Ends the wait for a body and cancels it.
    private func giveUp(_ run: UInt64, _ firing: Firing, _ error: BackplaneError) {
        firing.calls.enter()
        defer { firing.calls.leave() }
        if Callbacks.end(run, EncodedAnswer(error)) { firing.functions.cancel(run) }
    }

    /// Records that a body is no longer awaited because it has ended or its deadline has passed.
    private func ended(_ firing: Firing, _ answer: EncodedAnswer) {
        let error = answer.isFailure ? answer.error : nil
        state.withLock { state in
            // An answer that comes before this may already have let the next body begin.
            if state.timers[firing.timer]?.body === firing.body {
                state.timers[firing.timer]?.run = nil
                state.timers[firing.timer]?.body = nil
            }
            if error != nil { state.timers[firing.timer]?.failures += 1 }
            state.bodies -= 1
        }
        firing.body.end()
        if let error, log.isEnabled(.error) {
            var metadata = ["component": component, "timer": firing.name, "error": error.description]
            metadata["trace"] = firing.call.trace?.id
            log.write(LogRecord(level: .error, source: "host", message: "timer failed", metadata: metadata))
        }
        clock.bodyEnded()
        firing.calls.leave()
    }

    /// Records that the plugin has answered a body, possibly after its deadline, so that the next one may begin.
    fileprivate func answered(_ number: UInt64) {
        let now = clock.moment
        let removed = state.withLock { state -> Timer? in
            guard let timer = state.timers[number] else { return nil }
            state.timers[number]?.isRunning = false
            state.timers[number]?.timing.skip(to: now)
            guard !timer.isRemoved, timer.timing.next != nil else { return state.forget(number) }
            enqueue(number, &state)
            setAlarm(&state)
            return nil
        }
        withExtendedLifetime(removed) {}
    }
}

/// One run of a timer's body, which owns the pending answer.
private final class TimerRun: CallOwner {
    private let timer: UInt64
    private let timers: ComponentTimers
    private let instance: ComponentInstance
    /// The plugin's functions, retained until it has answered.
    private let functions: Mutex<TimerFunctions?>

    init(_ timer: UInt64, _ functions: TimerFunctions, of timers: ComponentTimers, _ instance: ComponentInstance) {
        (self.timer, self.timers, self.instance) = (timer, timers, instance)
        self.functions = Mutex(functions)
    }

    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _: () -> EncodedAnswer) {
        timers.deadlines.cancel(id)
    }

    func pluginAnswered() {
        timers.answered(timer)
        withExtendedLifetime(functions.withLock { $0.take() }) {}
        instance.release()
    }
}

extension EncodedAnswer {
    /// A Boolean value that indicates whether the body failed, as opposed to being cancelled.
    fileprivate var isFailure: Bool { status != 0 && error.code != .callCancelled }
}
