import CBackplane
import Synchronization

/// The host's timers for one component.
struct HostTimers: Sendable {
    private let table: ConstantPointer<bp_timers_1>
    private let component: UInt64

    init?(_ host: HostServices, component: UInt64) {
        guard let table = host.table(BP_TIMERS, revision: 1, as: bp_timers_1.self) else { return nil }
        (self.table, self.component) = (table, component)
    }

    /// Adds a timer and returns its number.
    ///
    /// - Throws: The reason why the host refuses it.
    func add(_ timer: TimerRequest, _ body: TimerBody) throws(BackplaneError) -> UInt64 {
        let refusal = Refusal(), context = Unmanaged.passRetained(body)
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
            return table.pointer.pointee.add(
                component, &own,
                { context, status, payload in
                    guard status != Int32(BP_OK) else { return }
                    let refusal = Unmanaged<Refusal>.fromOpaque(context!).takeUnretainedValue()
                    refusal.error.withLock { $0 = EncodedAnswer(status, payload).error }
                }, Unmanaged.passUnretained(refusal).toOpaque())
        }
        guard number != 0 else {
            context.release()
            throw refusal.error.withLock { $0 }
                ?? BackplaneError(.timerRefused, "the host refused the timer without a reason")
        }
        return number
    }

    func remove(_ timer: UInt64) { table.pointer.pointee.remove(component, timer) }

    /// The host's reason for refusing a timer, reported before the function returns.
    private final class Refusal: Sendable {
        let error = Mutex<BackplaneError?>(nil)
    }
}

/// The parameters of a timer that a component adds.
struct TimerRequest: Sendable {
    var name: String?
    var delay: Duration
    /// The time between two runs of the body; zero for a timer that does not repeat.
    var period: Duration
    var jitter: Duration
    /// The time limit of a run of the body; `nil` for the host's default.
    var limit: Duration?
}

/// The body of a timer, of which at most one run is in flight.
final class TimerBody: Sendable {
    private enum State {
        case idle
        /// The body with this number is about to run, or was cancelled before it ran.
        case starting(UInt64, isCancelled: Bool)
        case running(UInt64, Task<Void, Never>)
    }
    private let body: @Sendable (Call) async throws -> Void
    private let state = Mutex(State.idle)

    init(_ body: @escaping @Sendable (Call) async throws -> Void) { self.body = body }

    static func at(_ context: UnsafeMutableRawPointer?) -> TimerBody {
        guard let context else { preconditionFailure("a timer was called without its context") }
        return Unmanaged<TimerBody>.fromOpaque(context).takeUnretainedValue()
    }

    /// Starts the body, and answers once when it has ended.
    func start(_ call: Call, run: UInt64, _ reply: Reply) {
        state.withLock { $0 = .starting(run, isCancelled: false) }
        let task = Task {
            let answer: EncodedAnswer
            do {
                try await body(call)
                answer = EncodedAnswer([])
            } catch {
                answer = EncodedAnswer(BackplaneError(thrown: error))
            }
            ended(run)
            reply.end(answer)
        }
        let isCancelled = state.withLock { state in
            guard case .starting(run, let isCancelled) = state else { return false }  // it has ended
            state = .running(run, task)
            return isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func ended(_ run: UInt64) {
        state.withLock { state in
            switch state {
            case .starting(run, _), .running(run, _): state = .idle
            default: break
            }
        }
    }

    func cancel(_ run: UInt64) {
        let task = state.withLock { state -> Task<Void, Never>? in
            switch state {
            case .running(run, let task): return task
            case .starting(run, _): state = .starting(run, isCancelled: true)
            default: break
            }
            return nil
        }
        task?.cancel()
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
