import Backplane
import BackplaneNetwork
import Testing

@testable import BackplaneExchange

/// The decisions of limits, which need neither a clock nor a network.
struct LimitMachineTests {
    private static func at(_ seconds: Double) -> Deadline { Deadline(nanoseconds: 1 << 40) + .seconds(seconds) }

    enum Step: Sendable {
        /// A request is let through.
        case sent
        case refused
        /// The request that was sent at this place in the order has ended.
        case ended(Int, CircuitBreaker.Outcome)
    }
    struct BreakerCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [(time: Double, step: Step, state: CircuitBreaker.State)]
    }

    /// A breaker that opens for 10 seconds after 2 failures, and closes after 2 probes.
    static let breakerCases = [
        BreakerCase(
            testDescription: "only failures in a row count",
            steps: [
                (0, .sent, .closed(failures: 0)), (0, .ended(0, .failed), .closed(failures: 1)),
                (1, .sent, .closed(failures: 1)), (1, .ended(1, .succeeded), .closed(failures: 0)),
                (2, .sent, .closed(failures: 0)), (2, .ended(2, .failed), .closed(failures: 1)),
                (3, .sent, .closed(failures: 1)), (3, .ended(3, .undecided), .closed(failures: 1)),
                (4, .sent, .closed(failures: 1)), (4, .ended(4, .failed), .open(until: at(14))),
                (13, .refused, .open(until: at(14))),
            ]),
        BreakerCase(
            testDescription: "all probes have to succeed",
            steps: [
                (0, .sent, .closed(failures: 0)), (0, .sent, .closed(failures: 0)),
                (0, .ended(0, .failed), .closed(failures: 1)), (0, .ended(1, .failed), .open(until: at(10))),
                (10, .sent, .halfOpen(probing: 1, succeeded: 0, until: at(20))),
                (11, .sent, .halfOpen(probing: 2, succeeded: 0, until: at(21))),
                (11, .refused, .halfOpen(probing: 2, succeeded: 0, until: at(21))),
                (12, .ended(2, .succeeded), .halfOpen(probing: 1, succeeded: 1, until: at(21))),
                (12, .refused, .halfOpen(probing: 1, succeeded: 1, until: at(21))),
                (12, .ended(3, .succeeded), .closed(failures: 0)),
            ]),
        BreakerCase(
            testDescription: "a probe that fails opens it again",
            steps: [
                (0, .sent, .closed(failures: 0)), (0, .ended(0, .failed), .closed(failures: 1)),
                (0, .sent, .closed(failures: 1)), (0, .ended(1, .failed), .open(until: at(10))),
                (10, .sent, .halfOpen(probing: 1, succeeded: 0, until: at(20))),
                (10, .sent, .halfOpen(probing: 2, succeeded: 0, until: at(20))),
                (15, .ended(2, .failed), .open(until: at(25))),
                (16, .ended(3, .succeeded), .open(until: at(25))), (24, .refused, .open(until: at(25))),
            ]),
        BreakerCase(
            testDescription: "a cancelled probe makes room for another, and one without an outcome does in time",
            steps: [
                (0, .sent, .closed(failures: 0)), (0, .ended(0, .failed), .closed(failures: 1)),
                (0, .sent, .closed(failures: 1)), (0, .ended(1, .failed), .open(until: at(10))),
                (10, .sent, .halfOpen(probing: 1, succeeded: 0, until: at(20))),
                (10, .sent, .halfOpen(probing: 2, succeeded: 0, until: at(20))),
                (11, .ended(2, .undecided), .halfOpen(probing: 1, succeeded: 0, until: at(20))),
                (12, .sent, .halfOpen(probing: 2, succeeded: 0, until: at(22))),
                (21, .refused, .halfOpen(probing: 2, succeeded: 0, until: at(22))),
                (22, .sent, .halfOpen(probing: 1, succeeded: 0, until: at(32))),
                (23, .ended(3, .failed), .halfOpen(probing: 1, succeeded: 0, until: at(32))),
            ]),
        BreakerCase(
            testDescription: "the outcome of a request that was sent before the last change does not count",
            steps: [
                (0, .sent, .closed(failures: 0)), (0, .sent, .closed(failures: 0)), (0, .sent, .closed(failures: 0)),
                (0, .ended(0, .failed), .closed(failures: 1)), (0, .ended(1, .failed), .open(until: at(10))),
                (5, .ended(2, .succeeded), .open(until: at(10))),
                (10, .sent, .halfOpen(probing: 1, succeeded: 0, until: at(20))),
            ]),
    ]

    @Test(arguments: breakerCases)
    func `a breaker opens, tries and closes`(example: BreakerCase) {
        var breaker = CircuitBreaker(HostLimits.Breaker(failures: 2, openFor: .seconds(10), probes: 2))
        var rounds: [Int] = []
        for (number, (time, step, state)) in example.steps.enumerated() {
            let now = Self.at(time)
            switch step {
            case .sent:
                #expect(breaker.admits(at: now), "step \(number)")
                rounds.append(breaker.begin(at: now))
            case .refused: #expect(!breaker.admits(at: now), "step \(number)")
            case .ended(let request, let outcome): breaker.ended(outcome, of: rounds[request], at: now)
            }
            #expect(breaker.state == state, "step \(number)")
        }
    }

    @Test(arguments: [
        (BackplaneError.Code.networkFailed, CircuitBreaker.Outcome.failed), (.networkTimeout, .failed),
        (.networkInsecure, .undecided), (.networkBody, .undecided), (.networkTooLarge, .undecided),
    ])
    func `errors without a connection are failures`(code: BackplaneError.Code, outcome: CircuitBreaker.Outcome) {
        #expect(CircuitBreaker.Outcome(BackplaneError(code, ""), isLate: false) == outcome)
    }

    @Test func `some statuses are failures, and so is a cancellation at a time limit`() {
        let failures = (200...599).filter { CircuitBreaker.Outcome(status: $0) == .failed }
        #expect(failures == [500, 502, 503, 504])
        #expect(CircuitBreaker.Outcome(CancellationError(), isLate: false) == .undecided)
        #expect(CircuitBreaker.Outcome(CancellationError(), isLate: true) == .failed)
    }

    @Test(arguments: [
        // The times of takes, each as soon as possible after the time at which it is wanted.
        ([0, 0, 0, 0, 0], [0, 0, 0, 0.5, 1]),
        ([0, 0, 0, 0.6, 0.6], [0, 0, 0, 0.6, 1]),
        ([0, 0, 0, 100, 100, 100, 100], [0, 0, 0, 100, 100, 100, 100.5]),
        ([7, 7.1, 7.2, 7.3, 7.3], [7, 7.1, 7.2, 7.5, 8]),
    ])
    func `a bucket of three tokens gains two in a second`(wanted: [Double], taken: [Double]) {
        var bucket = TokenBucket(interval: .milliseconds(500), burst: 3), times: [Deadline] = []
        for time in wanted {
            let time = bucket.available(at: Self.at(time))
            bucket.take(at: time)
            times.append(time)
        }
        #expect(times == taken.map(Self.at))
        #expect(!bucket.isFull(at: Self.at(taken[0] + 1)) && bucket.isFull(at: Self.at(1_000)))
    }

    @Test func `a changed rate applies to the tokens that were taken`() {
        var bucket = TokenBucket(interval: .seconds(1), burst: 2)
        for _ in 1...2 { bucket.take(at: Self.at(0)) }
        #expect(bucket.available(at: Self.at(0)) == Self.at(1))
        bucket.burst = 3
        #expect(bucket.available(at: Self.at(0)) == Self.at(0))
        bucket.burst = 1
        #expect(bucket.available(at: Self.at(0)) == Self.at(2))
    }

    @Test func `a faster rate owes no time of the slower one`() {
        var bucket = TokenBucket(interval: .seconds(100), burst: 10)
        for _ in 1...10 { bucket.take(at: Self.at(0)) }
        bucket.interval = .milliseconds(100)
        bucket.refit(at: Self.at(0))
        #expect(bucket.available(at: Self.at(0)) == Self.at(0.1))
    }

    @Test func `senders are served in turn, and the requests of one in order`() {
        var queue = FairQueue()
        for id in 1...4 { queue.add(UInt64(id), from: "A") }
        queue.add(5, from: nil)
        for id in 6...7 { queue.add(UInt64(id), from: "B") }
        #expect(queue.count == 7 && queue.first == 1)
        #expect((1...3).map { _ in queue.removeFirst() } == [1, 5, 6])
        queue.add(8, from: nil)
        #expect(queue.remove(3) && !queue.remove(3) && queue.count == 4)
        #expect((1...5).map { _ in queue.removeFirst() } == [2, 7, 8, 4, nil])
        #expect(queue.count == 0 && queue.first == nil)
    }

    private static func names(_ decided: [HostAdmission.Decided]) -> [String] {
        decided.map { id, decision in
            switch decision {
            case .admitted: "\(id)"
            case .refused(.queueFull): "\(id) full"
            case .refused(.breakerOpen): "\(id) open"
            }
        }
    }

    @Test func `a full queue refuses the newest of whoever has most waiting`() {
        var host = HostAdmission(HostLimits(concurrent: 1, waiting: 2))
        #expect(Self.names(host.arrive(1, from: "A", at: Self.at(0))) == ["1"])
        #expect(host.arrive(2, from: "A", at: Self.at(0)).isEmpty && host.arrive(3, from: "A", at: Self.at(0)).isEmpty)
        #expect(Self.names(host.arrive(4, from: "A", at: Self.at(0))) == ["4 full"])
        #expect(Self.names(host.arrive(5, from: "B", at: Self.at(0))) == ["3 full"])
        #expect(host.running == 1 && host.waiting == 2 && host.refused == 2)
        #expect(Self.names(host.end(at: Self.at(1))) == ["2"] && Self.names(host.end(at: Self.at(1))) == ["5"])
        _ = host.end(at: Self.at(1))
        #expect(host.isIdle(at: Self.at(1)))
    }

    @Test func `a breaker that opens refuses those that wait`() {
        let breaker = HostLimits.Breaker(failures: 1, openFor: .seconds(10))
        var host = HostAdmission(HostLimits(concurrent: 1, breaker: breaker))
        guard case .admitted(let round?)? = host.arrive(1, from: nil, at: Self.at(0)).first?.decision else {
            Issue.record("it is not admitted")
            return
        }
        #expect(host.arrive(2, from: nil, at: Self.at(0)).isEmpty)
        #expect(Self.names(host.decided(.failed, of: round, at: Self.at(1))) == ["2 open"])
        #expect(Self.names(host.arrive(3, from: nil, at: Self.at(2))) == ["3 open"])
        #expect(host.end(at: Self.at(2)).isEmpty && !host.isBusy && !host.isIdle(at: Self.at(2)))
        #expect(Self.names(host.arrive(4, from: nil, at: Self.at(11))) == ["4"])
    }

    @Test func `changed limits apply to what runs and waits`() {
        var host = HostAdmission(HostLimits(concurrent: 1))
        for id in 1...3 { _ = host.arrive(UInt64(id), from: nil, at: Self.at(0)) }
        #expect(Self.names(host.change(to: HostLimits(concurrent: 2), at: Self.at(0))) == ["2"])
        #expect(host.change(to: HostLimits(concurrent: 1), at: Self.at(0)).isEmpty && host.running == 2)
        #expect(host.end(at: Self.at(0)).isEmpty, "there are still as many as may be")
        #expect(Self.names(host.change(to: HostLimits(), at: Self.at(0))) == ["3"])
    }

    @Test func `a rate wakes the queue up, and only if there is a place`() {
        var host = HostAdmission(HostLimits(concurrent: 2, perSecond: 0.5))
        #expect(Self.names(host.arrive(1, from: nil, at: Self.at(0))) == ["1"] && host.wake(at: Self.at(0)) == nil)
        #expect(host.arrive(2, from: nil, at: Self.at(1)).isEmpty && host.wake(at: Self.at(1)) == Self.at(2))
        #expect(Self.names(host.decide(at: Self.at(2))) == ["2"])
        #expect(host.arrive(3, from: nil, at: Self.at(2)).isEmpty && host.wake(at: Self.at(2)) == nil)
        #expect(host.end(at: Self.at(3)).isEmpty && host.wake(at: Self.at(3)) == Self.at(4))
    }

    @Test func `numbers without a sense are brought into their ranges`() {
        let limits = HostLimits(
            concurrent: 0, perSecond: -1, burst: 0, waiting: -5,
            breaker: HostLimits.Breaker(failures: 0, openFor: .seconds(-1), probes: 0), maximumBodySize: 0
        ).bounded
        let breaker = HostLimits.Breaker(failures: 1, openFor: .zero, probes: 1)
        #expect(
            limits
                == HostLimits(
                    concurrent: 1, perSecond: 0.001, burst: 1, waiting: 0, breaker: breaker, maximumBodySize: 1))
        #expect(HostLimits(perSecond: .nan).bounded.perSecond == 1)
        #expect(HostLimits(perSecond: .infinity).bounded.perSecond == 1e6)
    }
}
