import Backplane
import BackplaneNetwork
import BackplaneScreens
import Testing

/// The state machine of loads, driven directly.
@Suite(.timeLimit(.minutes(1)))
struct LoadingTrackerTests {
    private let failure = BackplaneError(.networkFailed, "the host is unknown")
    private let cancelled = BackplaneError(.callCancelled, "the call was cancelled")
    private let redundant = BackplaneError(.networkRedundant, "an equal request is in flight")

    private func tracker(_ loads: KeyValuePairs<LoadTracker.ID, String>) -> LoadTracker {
        var tracker = LoadTracker()
        for (id, key) in loads { tracker.start(id, key) }
        return tracker
    }

    @Test func `something loads from the first start to the last end, whatever the kind of the ends`() {
        var tracker = tracker([1: "books", 2: "covers", 3: "covers", 4: "loans"])
        for (id, error) in [(1, nil), (2, failure), (3, cancelled), (4, redundant)] as [(UInt64, BackplaneError?)] {
            #expect(tracker.isLoading())
            tracker.end(id, error)
        }
        #expect(!tracker.isLoading())
        for end in [.succeeded, .failed, .cancelled, .redundant] as [LoadTracker.End] {
            #expect(tracker.count(of: end) == 1)
        }
    }

    @Test func `the number of a load ends once`() {
        var tracker = tracker([1: "books"])
        tracker.start(1, "books")
        #expect(tracker.end(1) == .succeeded)
        #expect(tracker.end(1, failure) == nil)
        #expect(tracker.end(2, failure) == nil)
        #expect(tracker.failures().isEmpty && tracker.count(of: .failed) == 0)
    }

    @Test func `each key is shown by itself`() {
        var tracker = tracker([1: "books", 2: "loans"])
        tracker.end(2, failure)
        #expect(tracker.isLoading("books") && !tracker.isLoading("loans"))
        #expect(tracker.failures(of: "books").isEmpty)
        #expect(tracker.failures(of: "loans") == [LoadFailure(key: "loans", error: failure)])
        #expect(tracker.failures().first?.reason == "the host is unknown")
    }

    @Test func `a failure says what to repeat, until the next start of the same`() {
        var tracker = tracker([1: "books", 2: "loans"])
        tracker.end(2, failure)
        tracker.end(1, failure)
        #expect(tracker.failures().map(\.key) == ["loans", "books"])
        tracker.start(3, "loans")
        #expect(tracker.failures().map(\.key) == ["books"])
        tracker.end(3, cancelled)
        #expect(tracker.failures().map(\.key) == ["books"], "nothing is shown of a cancelled repetition")
        tracker.start(4, "books")
        tracker.end(4, failure)
        #expect(tracker.failures().map(\.key) == ["books"], "one failure for each key")
    }

    @Test func `a later success removes the failure of the same`() {
        var tracker = tracker([1: "books", 2: "books", 3: "loans"])
        tracker.end(1, failure)
        tracker.end(3, failure)
        tracker.end(2)
        #expect(tracker.failures().map(\.key) == ["loans"])
    }

    @Test(arguments: [BackplaneError.Code.callCancelled, .networkRedundant])
    func `nothing is shown of a load that was cancelled, or redundant`(code: BackplaneError.Code) {
        var tracker = tracker([1: "books", 2: "books"])
        tracker.end(2, BackplaneError(code, ""))
        #expect(tracker.isLoading("books") && tracker.failures().isEmpty)
        tracker.end(1)
        #expect(!tracker.isLoading("books"))
    }

    @Test func `the late end of a cancelled load changes nothing`() {
        var tracker = tracker([1: "cover", 2: "books"])
        #expect(tracker.cancel("cover") == [1])
        #expect(!tracker.isLoading("cover") && tracker.isLoading("books"))
        tracker.start(3, "cover")
        tracker.progress(1, 0.5)
        #expect(tracker.end(1, failure) == nil)
        #expect(tracker.isLoading("cover") && tracker.progress(of: "cover") == nil && tracker.failures().isEmpty)
        #expect(tracker.count(of: .cancelled) == 1)
        #expect(tracker.cancel() == [2, 3])
        #expect(!tracker.isLoading() && tracker.count(of: .cancelled) == 3)
    }

    @Test func `the progress of several loads is known if that of each is`() {
        var tracker = tracker([1: "covers", 2: "covers"])
        tracker.progress(1, 0.5)
        #expect(tracker.progress() == nil)
        tracker.progress(2, 7)
        #expect(tracker.progress() == 0.75)
        tracker.progress(2, nil)
        #expect(tracker.progress() == nil)
        tracker.end(2)
        #expect(tracker.progress(of: "covers") == 0.5)
        tracker.end(1)
        #expect(tracker.progress() == nil)
    }

    @Test func `a stream loads until its first value, and can fail later`() {
        var tracker = tracker([1: "loans"])
        #expect(tracker.settle(1) && !tracker.isLoading())
        #expect(tracker.end(1, failure) == .failed)
        #expect(tracker.failures().map(\.key) == ["loans"])
        tracker.start(2, "loans")
        tracker.settle(2)
        #expect(tracker.cancel("loans") == [2], "it still goes on")
        #expect(!tracker.settle(2) && tracker.end(2, failure) == nil)
    }

    @Test func `failures are removed without a repetition`() {
        var tracker = tracker([1: "books", 2: "loans"])
        tracker.end(1, failure)
        tracker.end(2, failure)
        tracker.dismiss("books")
        #expect(tracker.failures().map(\.key) == ["loans"])
        tracker.dismiss()
        #expect(tracker.failures().isEmpty)
    }

    @Test func `the events of a client are counted, and keep nothing to repeat`() {
        var tracker = LoadTracker(), event = ExchangeEvent(exchange: 7, method: "GET", url: "http://127.0.0.1/books")
        tracker.note(event)
        #expect(tracker.isLoading())
        event.stage = .progress
        (event.received, event.toReceive) = (25, 100)
        tracker.note(event)
        #expect(tracker.progress() == 0.25)
        (event.stage, event.error) = (.end, "network.failed")
        tracker.note(event)
        #expect(!tracker.isLoading() && tracker.failures().isEmpty && tracker.count(of: .failed) == 1)
    }

    @Test func `an exchange that streams is a load until its head`() {
        var tracker = LoadTracker(), event = ExchangeEvent(exchange: 7, method: "GET", url: "http://127.0.0.1/events")
        event.isStreamed = true
        tracker.note(event)
        #expect(tracker.isLoading())
        event.stage = .head
        tracker.note(event)
        #expect(!tracker.isLoading())
        event.stage = .end
        tracker.note(event)
        #expect(!tracker.isLoading() && tracker.count(of: .succeeded) == 1)
    }

    @Test(
        arguments: [("call.cancelled", .cancelled), ("network.redundant", .redundant), ("network.timeout", .failed)]
            as [(String, LoadTracker.End)])
    func `the code of an event's error is that of the end`(code: String, end: LoadTracker.End) {
        var tracker = LoadTracker(), event = ExchangeEvent(exchange: 7, method: "GET", url: "http://127.0.0.1/books")
        tracker.note(event, "books")
        (event.stage, event.error) = (.end, code)
        tracker.note(event, "books")
        #expect(tracker.count(of: end) == 1)
        #expect(tracker.failures().map(\.key) == (end == .failed ? ["books"] : []))
    }

    @Test func `a key is idle, loads, has a value, and keeps it while it is loaded again`() {
        var tracker = LoadTracker()
        func state(_ value: Int?) -> LoadState<Int> { LoadState(of: "count", in: tracker, value: value) }
        #expect(state(nil) == .idle)
        tracker.start(1, "count")
        tracker.progress(1, 0.5)
        #expect(state(nil) == .loading(progress: 0.5, former: nil) && state(nil).isLoading)
        tracker.end(1)
        #expect(state(7) == .loaded(7))
        tracker.start(2, "count")
        #expect(state(7) == .loading(progress: nil, former: 7))
        tracker.end(2, failure)
        let failed = LoadFailure(key: "count", error: failure)
        #expect(state(7) == .failed(failed, former: 7) && state(7).failure == failed)
        #expect(state(7).value == 7 && state(nil).value == nil)
    }
}
