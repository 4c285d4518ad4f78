import Backplane
import Testing

@testable import BackplaneHost

/// When a timer is due, as a function of what happened.
struct TimerTimingTests {
    private func at(_ nanoseconds: Int64) -> Deadline { Deadline(nanoseconds: nanoseconds) }

    @Test func `a timer begins once`() {
        var timing = TimerTiming(delay: 30, period: 30)
        #expect(timing.next == nil)
        timing.begin(at: at(100))
        #expect(timing.next == at(130))
        timing.begin(at: at(500))
        #expect(timing.next == at(130))
    }

    @Test(arguments: [(129, 130), (130, 160), (131, 160), (159, 160), (160, 190), (1_000, 1_030), (1_030, 1_060)])
    func `times that have passed are skipped, and the period is not shifted`(now: Int64, next: Int64) {
        var timing = TimerTiming(delay: 30, period: 30)
        timing.begin(at: at(100))
        timing.pass(at(now))
        #expect(timing.next == at(next))
    }

    @Test func `a timer that does not repeat has one time`() {
        var timing = TimerTiming(delay: 30, period: 0)
        timing.begin(at: at(100))
        timing.pass(at(129))
        #expect(timing.next == at(130))
        timing.pass(at(130))
        #expect(timing.next == nil)
        timing.begin(at: at(200))
        #expect(timing.next == nil)
    }

    /// The old one's last time was 100, its next is 130, and it is 110.
    @Test(arguments: [(30, 130), (20, 120), (50, 150), (5, 110), (1_000, 1_100)] as [(Int64, Int64)])
    func `the new timer is due one period after the old one's last time`(period: Int64, next: Int64) {
        var old = TimerTiming(delay: 30, period: 30)
        old.begin(at: at(70))
        old.pass(at(100))
        var new = TimerTiming(delay: period, period: period)
        let continues = new.continue(old, at: at(110))
        #expect(continues)
        #expect(new.next == at(next))
        new.begin(at: at(110))
        #expect(new.next == at(next))
    }

    @Test func `a timer that is due stays due`() {
        var old = TimerTiming(delay: 30, period: 30)
        old.begin(at: at(100))
        var new = TimerTiming(delay: 30, period: 30)
        let continues = new.continue(old, at: at(400))
        #expect(continues)
        #expect(new.next == at(130), "it was held back, and is made up for")
    }

    @Test func `a timer of another kind, or one that is over, is not continued`() {
        var once = TimerTiming(delay: 30, period: 0)
        once.begin(at: at(100))
        var often = TimerTiming(delay: 30, period: 30)
        let isOnceContinued = often.continue(once, at: at(110))
        #expect(!isOnceContinued)
        #expect(often.next == nil)
        often.begin(at: at(110))
        var other = TimerTiming(delay: 5, period: 0)
        let isOftenContinued = other.continue(often, at: at(110))
        #expect(!isOftenContinued)
        once.pass(at(130))
        let isOverContinued = other.continue(once, at: at(140))
        #expect(!isOverContinued)
    }
}
