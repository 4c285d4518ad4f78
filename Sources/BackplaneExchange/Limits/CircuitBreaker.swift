import Backplane
import BackplaneNetwork

/// The state machine that refuses requests to a failing host for a time, and then tries it with a few requests.
///
/// The breaker opens after a number of consecutive failures. After its open time, it is half-open and lets probes
/// through. The first failed probe opens it again; if all probes succeed, it closes. A probe without an outcome after
/// the same time is given up, and others follow.
struct CircuitBreaker: Equatable {
    enum State: Equatable {
        case closed(failures: Int)
        case open(until: Deadline)
        /// - until: The time at which probes without an outcome are given up.
        case halfOpen(probing: Int, succeeded: Int, until: Deadline)
    }
    enum Outcome: Equatable {
        case succeeded, failed
        /// The request was cancelled, or has failed for a reason that does not concern the host.
        case undecided
    }

    var settings: HostLimits.Breaker
    private(set) var state = State.closed(failures: 0)
    /// The number of changes between the states; the outcome of a request counts only in the round that let it through.
    private var round = 0

    init(_ settings: HostLimits.Breaker) { self.settings = settings }

    func admits(at now: Deadline) -> Bool {
        switch state {
        case .closed: true
        case .open(let until): until <= now
        case .halfOpen(let probing, let succeeded, let until):
            probing + succeeded < settings.probes || until <= now
        }
    }

    /// Lets a request through that ``admits(at:)`` permits, and returns the round to which its outcome belongs.
    mutating func begin(at now: Deadline) -> Int {
        switch state {
        case .closed: break
        case .halfOpen(let probing, let succeeded, _) where probing + succeeded < settings.probes:
            state = .halfOpen(probing: probing + 1, succeeded: succeeded, until: now + settings.openFor)
        case .open, .halfOpen: change(to: .halfOpen(probing: 1, succeeded: 0, until: now + settings.openFor))
        }
        return round
    }

    mutating func ended(_ outcome: Outcome, of round: Int, at now: Deadline) {
        guard round == self.round else { return }
        switch (state, outcome) {
        case (.closed, .succeeded): state = .closed(failures: 0)
        case (.closed(let failures), .failed) where failures + 1 < settings.failures:
            state = .closed(failures: failures + 1)
        case (.closed, .failed), (.halfOpen, .failed): change(to: .open(until: now + settings.openFor))
        case (.halfOpen(_, let succeeded, _), .succeeded) where succeeded + 1 >= settings.probes:
            change(to: .closed(failures: 0))
        case (.halfOpen(let probing, let succeeded, let until), .succeeded):
            state = .halfOpen(probing: probing - 1, succeeded: succeeded + 1, until: until)
        case (.halfOpen(let probing, let succeeded, let until), .undecided):
            state = .halfOpen(probing: probing - 1, succeeded: succeeded, until: until)
        case (.closed, .undecided), (.open, _): break
        }
    }

    private mutating func change(to state: State) {
        self.state = state
        round += 1
    }
}

extension CircuitBreaker.Outcome {
    init(status: Int) { self = [500, 502, 503, 504].contains(status) ? .failed : .succeeded }

    /// Creates the outcome of an attempt without a response.
    ///
    /// - Parameter isLate: Whether a time limit has passed, which cancels the attempt.
    init(_ error: any Error, isLate: Bool) {
        self = isLate || (error as? BackplaneError)?.isConnectivity == true ? .failed : .undecided
    }
}
