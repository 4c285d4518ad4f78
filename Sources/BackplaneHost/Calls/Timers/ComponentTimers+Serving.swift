import Backplane
import Synchronization

extension ComponentTimers {
    /// Starts the timers, each in phase with the older instance's timer of the same name.
    ///
    /// - Parameter old: The timers of the older instance, which must be held.
    /// - Returns: The names of the older instance's one-shot timers that have yet to fire and that this instance does
    ///   not have.
    @discardableResult
    func begin(continuing old: ComponentTimers? = nil) -> [String] {
        let now = clock.moment
        return state.withLock { state in
            guard state.phase != .ended, state.phase != .serving else { return [] }
            var left: [String] = []
            for handed in old?.handed ?? [] {
                guard let number = state.numbers[handed.name], let own = state.timers[number],
                    own.isUnnamed == handed.isUnnamed, !own.isUnnamed || own.timing.period == handed.timing.period
                else {
                    if !handed.timing.repeats, handed.timing.next != nil { left.append(handed.name) }
                    continue
                }
                _ = state.timers[number]?.timing.continue(handed.timing, at: now)
                if let body = handed.body, body.isAwaited(by: self, handed.name) {
                    state.timers[number]?.earlier = body
                }
            }
            state.phase = .serving
            state.queue.removeAll()
            for number in state.timers.keys {
                state.timers[number]?.timing.begin(at: now)
                state.timers[number]?.due = nil
                enqueue(number, &state)
            }
            setAlarm(&state)
            return left.sorted()
        }
    }

    /// Stops beginning bodies until ``begin(continuing:)``; running bodies are included in the component's count of
    /// calls.
    func hold() {
        state.withLock { state in
            guard state.phase == .serving else { return }
            state.phase = .held
            withdrawAlarm(&state)
        }
    }

    /// Permanently ends all timers; running bodies continue.
    func end() {
        let removed = state.withLock { state -> [Timer] in
            state.phase = .ended
            withdrawAlarm(&state)
            state.queue.removeAll()
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

    private struct Handed {
        var name: String
        var isUnnamed: Bool
        var timing: TimerTiming
        /// The running body, of this instance or an older one.
        var body: TimerBodyInFlight?
    }

    /// The names and phases of the timers, for a newer instance.
    private var handed: [Handed] {
        state.withLock { state in
            state.timers.values.filter { !$0.isRemoved }.map { timer in
                Handed(
                    name: timer.name, isUnnamed: timer.isUnnamed, timing: timer.timing,
                    body: timer.body ?? timer.earlier)
            }
        }
    }

    /// Unblocks a timer that was waiting for a body of an older instance.
    func unblock(_ name: String) {
        let now = clock.moment
        state.withLock { state in
            guard let number = state.numbers[name] else { return }
            state.timers[number]?.earlier = nil
            state.timers[number]?.timing.skip(to: now)
            enqueue(number, &state)
            setAlarm(&state)
        }
    }
}
