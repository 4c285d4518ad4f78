import Backplane
import BackplaneHost
import Testing

@testable import BackplaneDev

/// When changes are told, on a clock of the test's own.
@Suite(.timeLimit(.minutes(2)))
struct SettlingTests {
    private func moment(_ milliseconds: Int64) -> Deadline { Deadline(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000) }
    private func written(_ paths: String...) -> WatchedChanges { WatchedChanges(paths: Set(paths)) }

    @Test func `nothing is due where nothing came`() {
        var settling = Settling(quiet: .milliseconds(20), patience: .milliseconds(100))
        #expect(settling.due == nil && settling.take(at: moment(1_000)) == nil)
        settling.add(WatchedChanges(), at: moment(0))
        #expect(settling.due == nil)
    }

    @Test func `what came is due once nothing more has come for the quiet time, and only once`() {
        var settling = Settling(quiet: .milliseconds(20), patience: .milliseconds(100))
        settling.add(written("a"), at: moment(0))
        #expect(settling.due == moment(20))
        settling.add(written("b"), at: moment(15))
        #expect(settling.due == moment(35) && settling.take(at: moment(34)) == nil)
        #expect(settling.take(at: moment(35)) == written("a", "b"))
        #expect(settling.due == nil && settling.take(at: moment(1_000)) == nil)
    }

    @Test func `a stream without an end holds the first up no longer than patience lasts`() {
        var settling = Settling(quiet: .milliseconds(20), patience: .milliseconds(100)), told: [Int64] = []
        for now in stride(from: Int64(0), through: 300, by: 10) {
            settling.add(written("\(now)"), at: moment(now))
            if settling.take(at: moment(now)) != nil { told.append(now) }
        }
        #expect(told == [100, 210])
    }

    @Test func `no quiet time at all is due at once`() {
        var settling = Settling(quiet: .zero, patience: .zero)
        settling.add(written("a"), at: moment(7))
        #expect(settling.take(at: moment(7)) == written("a"))
    }

    @Test func `what is missing and what is wrong is told with the rest`() {
        var settling = Settling(quiet: .milliseconds(20), patience: .milliseconds(100))
        let problem = BackplaneError(.watchUnreadable, "expected", at: "/a"), limit = BackplaneError(.watchLimit, "expected", at: "/a")
        settling.add(WatchedChanges(isComplete: false), at: moment(0))
        settling.add(WatchedChanges(problems: [problem, limit]), at: moment(1))
        settling.add(WatchedChanges(paths: ["a"], problems: [problem, BackplaneError(.watchLimit, "expected", at: "/b")]), at: moment(2))
        #expect(settling.take(at: moment(22)) == WatchedChanges(paths: ["a"], isComplete: false, problems: [problem, limit]), "each once")
    }
}
