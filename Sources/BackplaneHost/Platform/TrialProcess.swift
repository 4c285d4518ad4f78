import Backplane
import CBackplaneHost
import Glibc

/// A process next to this one, whose children load libraries and call their entry functions before this process does.
///
/// It is this program, started once more and taken over before `main` (`trials.c`), so it has the same libraries in
/// memory. It is single-threaded, and forks each child before there is a library for it. It starts at the first trial
/// and ends with this process; a trial costs a few system calls and the loading of the library.
package final class TrialProcess: Sendable {
    /// The process that all hosts of this program share.
    package static let shared = TrialProcess(isPossible: bph_can_try() != 0)

    /// The result of a trial.
    package enum Conclusion: Sendable, Hashable {
        case passed
        /// The system's loader refuses the library, for a reason that it reports again when this process loads it.
        case refused(String)
        /// The child terminated because of the library, after printing this text.
        case died(Death, stage: Stage, printed: String)
        /// The result is no longer awaited.
        case givenUp
        /// No process could be created for the trial, for this reason.
        case noProcess(String)
        /// This program cannot be started again for trials.
        case impossible
    }
    package enum Death: Sendable, Hashable {
        case exit(Int32), signal(Int32), overdue
    }
    /// The stage in which the child ended.
    package enum Stage: Sendable, Hashable {
        /// While the library was loaded, by the loader or in a constructor.
        case loading
        /// In the entry function.
        case entering
        /// While the descriptors in the entry function's answer were read.
        case reading
        /// While the child was exiting, in a destructor.
        case ending
    }

    private struct State {
        /// The process and this end of the channel to it, once it has started.
        var running: (id: Int32, channel: Int32)?
        var isInUse = false
        /// A Boolean value that indicates whether a process has been ready before.
        var wasReady = false
        /// The id of the last request; the process answers with it.
        var lastRequest: UInt32 = 0
    }
    private let isPossible: Bool
    private let state = Monitor(State())

    /// Creates a process that is not started.
    ///
    /// - Parameter isPossible: Whether this program can be started again for trials.
    package init(isPossible: Bool) { self.isPossible = isPossible }

    deinit {
        if let running = state.withLock({ $0.running }) { Self.end(running) }
    }

    /// The id of the process, for tests; `nil` if it is not running.
    package var id: Int32? { state.withLock({ $0.running })?.id }

    /// Starts the process, so that the first trial need not wait for it; ignores a failure.
    package func prepare() {
        guard isPossible, take(isGivenUp: { false }) else { return }
        _ = try? start()
        release()
    }

    /// Opens the library at `path` in a child, and reads its description if it has an entry function.
    ///
    /// - Parameters:
    ///   - toolchain: The compiler of this program, which the entry function is offered.
    ///   - limit: The time after which the child is killed.
    ///   - isGivenUp: A function that returns whether the result is no longer awaited, in which case the process is
    ///     ended.
    package func open(_ path: String, toolchain: String = "", limit: Duration, isGivenUp: () -> Bool = { false })
        -> Conclusion
    {
        guard isPossible else { return .impossible }
        guard take(isGivenUp: isGivenUp) else { return .givenUp }
        defer { release() }
        // The process may have been killed since the last trial; a second one in a row is not chance.
        for _ in 0..<2 {
            do throws(SystemError) {
                guard let channel = try start() else { return .impossible }
                if let verdict = try ask(channel, path, toolchain, limit, isGivenUp) { return verdict }
                drop()
                return .givenUp
            } catch {
                drop()
                guard error.number == EPIPE || error.number == ECHILD else { return .noProcess("\(error)") }
            }
        }
        return .noProcess("the process for it was killed")
    }

    /// Waits until no other trial is in progress; returns `false` if this one was abandoned before that.
    private func take(isGivenUp: () -> Bool) -> Bool {
        state.wait { state in
            guard state.isInUse else {
                state.isInUse = true
                return .done(true)
            }
            return isGivenUp() ? .done(false) : .until(Deadline.now + Self.interval)
        }
    }

    private func release() { state.withLock { $0.isInUse = false } }

    private func drop() {
        if let running = state.withLock({ state in
            defer { state.running = nil }
            return state.running
        }) {
            Self.end(running)
        }
    }

    private static func end(_ running: (id: Int32, channel: Int32)) {
        close(running.channel)
        kill(running.id, SIGKILL)
        while waitpid(running.id, nil, 0) < 0, errno == EINTR {}
    }

    /// The interval at which abandoned trials are detected.
    private static let interval = Duration.milliseconds(50)
    /// The time limit for the process to become ready, and to answer after a trial's limit has passed.
    private static let patience = Duration.seconds(20)

    /// Returns the channel to the process, starting it if it is not running; `nil` if none has ever responded in time.
    ///
    /// - Throws: `ECHILD` if it does not respond although an earlier one did; the error of creating it.
    private func start() throws(SystemError) -> Int32? {
        if let running = state.withLock({ $0.running }) { return running.channel }
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try retryingInterrupted { socketpair(AF_UNIX, kind, 0, &ends) }
        let id = bph_start_trials(ends[1])
        close(ends[1])
        guard id > 0 else {
            close(ends[0])
            throw SystemError(-id)
        }
        let running = (id: id, channel: ends[0])
        // A program that something else takes over, such as valgrind, ends or says nothing.
        guard (try? receive(ends[0], 0, until: .now + Self.patience, { false }))?.outcome == .ready else {
            Self.end(running)
            // One that was ready before is killed now, or has no memory.
            if state.withLock({ $0.wasReady }) { throw SystemError(ECHILD) }
            return nil
        }
        state.withLock { ($0.running, $0.wasReady) = (running, true) }
        return running.channel
    }

    /// Returns the verdict on a library; `nil` if the trial was abandoned.
    private func ask(
        _ channel: Int32, _ path: String, _ toolchain: String, _ limit: Duration, _ isGivenUp: () -> Bool
    ) throws(SystemError) -> Conclusion? {
        guard path.utf8.count <= BPH_TRIAL_PATH else { throw SystemError(ENAMETOOLONG) }
        let id = state.withLock { state in
            state.lastRequest = max(1, state.lastRequest &+ 1)
            return state.lastRequest
        }
        var request = bph_trial_request(
            id: id, limit_ms: UInt32(min(max(limit / .milliseconds(1), 0), Double(UInt32.max))))
        let message =
            withUnsafeBytes(of: &request) { Array($0) } + Array(path.utf8) + [0]
            + toolchain.utf8.prefix(Int(BPH_TRIAL_TOOLCHAIN))
        try retryingInterrupted { send(channel, message, message.count, Int32(MSG_NOSIGNAL)) }
        guard let answer = try receive(channel, id, until: .now + limit + Self.patience, isGivenUp) else { return nil }
        switch answer.outcome {
        case .ready: throw SystemError(ECHILD)
        case .passed: return .passed
        case .refused: return .refused(answer.text)
        case .died(let death, let stage): return .died(death, stage: stage, printed: answer.text)
        case .noChild(let number): throw SystemError(number)
        }
    }

    private struct Answer {
        enum Outcome: Hashable {
            case ready, passed, refused
            case died(Death, Stage)
            case noChild(Int32)
        }
        let id: UInt32
        let outcome: Outcome
        let text: String

        init?(_ message: ArraySlice<UInt8>) {
            let size = MemoryLayout<bph_trial_verdict>.size
            guard message.count >= size else { return nil }
            let verdict = message.withUnsafeBytes { $0.loadUnaligned(as: bph_trial_verdict.self) }
            id = verdict.id
            outcome =
                switch Int(verdict.outcome) {
                case BPH_TRIAL_READY: .ready
                case BPH_TRIAL_PASSED: .passed
                case BPH_TRIAL_REFUSED: .refused
                case BPH_TRIAL_EXIT: .died(.exit(verdict.number), Stage(verdict.stage))
                case BPH_TRIAL_SIGNAL: .died(.signal(verdict.number), Stage(verdict.stage))
                case BPH_TRIAL_OVERDUE: .died(.overdue, Stage(verdict.stage))
                default: .noChild(verdict.number)
                }
            text = String(decoding: message.dropFirst(size), as: UTF8.self)
        }
    }

    /// Returns the process's answer to a request; `nil` if the trial was abandoned.
    ///
    /// - Throws: `EPIPE` if the process has ended, `ETIMEDOUT` if it does not answer by the deadline.
    private func receive(_ channel: Int32, _ id: UInt32, until deadline: Deadline, _ isGivenUp: () -> Bool)
        throws(SystemError)
        -> Answer?
    {
        while true {
            var entry = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
            let limit = Int32(Self.interval / .milliseconds(1))
            if try retryingInterrupted({ poll(&entry, 1, limit) }) == 0 {
                if isGivenUp() { return nil }
                if Deadline.now >= deadline { throw SystemError(ETIMEDOUT) }
                continue
            }
            var bytes = [UInt8](repeating: 0, count: MemoryLayout<bph_trial_verdict>.size + Int(BPH_TRIAL_TEXT))
            let count = recv(channel, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0, let answer = Answer(bytes[..<count]) else { throw SystemError(EPIPE) }
            if answer.id == id { return answer }
        }
    }
}

extension TrialProcess.Stage {
    fileprivate init(_ number: Int32) {
        self =
            switch Int(number) {
            case BPH_TRIAL_ENTERING: .entering
            case BPH_TRIAL_READING: .reading
            case BPH_TRIAL_ENDING: .ending
            default: .loading
            }
    }
}
