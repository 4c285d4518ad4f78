import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
import Testing

/// The loads of a screen, without the screen: what runs, what is repeated, and what the values are.
@Suite(.timeLimit(.minutes(2)))
struct LoadingTests {
    private struct Unplugged: ComponentError {
        var code: String { "test.unplugged" }
        var message: String { "the cable is not plugged in" }
    }
    private let redraws: Recording<Bool>
    private let loads: Loads

    init() {
        let redraws = Recording<Bool>()
        self.redraws = redraws
        loads = Loads { redraws.add(true) }
    }

    /// Waits for a redraw after which a condition is met.
    private func until(_ isReached: @escaping @Sendable (Loads) -> Bool) async throws {
        try await redraws.until { [loads] _ in isReached(loads) }
    }

    private func state(_ key: String = "count") -> LoadState<Int> { loads[key] }

    @Test func `a load redraws the screen at its start, its progress and its end`() async throws {
        let gate = TestGate()
        #expect(state() == .idle)
        loads.start("count") { report in
            report(0.5)
            try await gate.pass()
            return 7
        }
        #expect(state().isLoading)
        try await gate.arrivals()
        #expect(state() == .loading(progress: 0.5, former: nil))
        gate.open()
        _ = try await redraws.first(3)
        #expect(state() == .loaded(7) && redraws.all.count == 3)
    }

    @Test func `a second start of the same while it runs is redundant, and silent`() async throws {
        let gate = TestGate(), begun = Recording<Int>()
        func press(_ number: Int) -> Bool {
            loads.start("count") {
                begun.add(number)
                try await gate.pass()
                return number
            }
        }
        #expect(press(1))
        #expect(!press(2))
        #expect(loads.tracker.count(of: .redundant) == 1 && loads.tracker.failures().isEmpty)
        gate.open()
        try await until { !$0.tracker.isLoading() }
        #expect(begun.all == [1] && state() == .loaded(1))
        #expect(press(3), "it has ended")
    }

    @Test func `the latest of several searches wins, whichever ends last`() async throws {
        let early = TestGate(), late = TestGate()
        loads.start("count", replacing: true) {
            // Like a function that does not notice that it is cancelled.
            await Task { try? await early.pass() }.value
            return 1
        }
        try await early.arrivals()
        loads.start("count", replacing: true) {
            try await late.pass()
            return 2
        }
        #expect(loads.tracker.count(of: .cancelled) == 1)
        late.open()
        try await until { $0.tracker.count(of: .succeeded) == 1 }
        early.open()
        _ = try await redraws.first(4)
        #expect(state() == .loaded(2) && loads.tracker.failures().isEmpty)
    }

    @Test func `the value stays while it is loaded again, and after a failure`() async throws {
        loads.start("count") { 7 }
        try await until { !$0.tracker.isLoading() }
        loads.start("count") { () -> Int in throw Unplugged() }
        #expect(state() == .loading(progress: nil, former: 7))
        try await until { !$0.tracker.isLoading() }
        #expect(state().value == 7 && state().failure?.reason == Unplugged().message)
        #expect(state().failure?.error.failure?.code == "test.unplugged")
    }

    @Test func `only what has failed is repeated`() async throws {
        let begun = Recording<String>(), plugged = Recording<Bool>()
        for key in ["books", "loans", "news"] {
            loads.start(key) {
                begun.add(key)
                if key != "news", plugged.all.isEmpty { throw Unplugged() }
                return 1
            }
        }
        try await until { !$0.tracker.isLoading() }
        #expect(Set(loads.tracker.failures().map(\.key)) == ["books", "loans"])
        loads.retry(try #require(loads.tracker.failures(of: "books").first))
        try await until { $0.tracker.count(of: .failed) == 3 }
        plugged.add(true)
        loads.retry()
        #expect(loads.tracker.isLoading("books") && loads.tracker.isLoading("loans"))
        #expect(!loads.tracker.isLoading("news"))
        try await until { !$0.tracker.isLoading() }
        #expect(loads.tracker.failures().isEmpty)
        #expect(begun.all.sorted() == ["books", "books", "books", "loans", "loans", "news"])
        loads.retry()
        #expect(!loads.tracker.isLoading(), "nothing has failed")
    }

    @Test func `loads are cancelled with the screen, and by their key`() async throws {
        let cancelled = Recording<String>()
        func hold(_ key: String, _ loads: Loads) {
            loads.start(key) {
                do { try await TestGate().pass() } catch {
                    cancelled.add(key)
                    throw error
                }
            }
        }
        hold("books", loads)
        hold("loans", loads)
        loads.cancel("books")
        #expect(try await cancelled.first(1) == ["books"])
        #expect(!loads.tracker.isLoading("books") && loads.tracker.isLoading("loans"))
        var others: Loads? = Loads {}
        if let others { hold("news", others) }
        others = nil
        #expect(try await cancelled.first(2).last == "news")
    }

    @Test func `a sequence is a load until its first element, and its latest element is the value`() async throws {
        let (numbers, number) = AsyncThrowingStream.makeStream(of: Int.self)
        let begun = Recording<Bool>()
        loads.follow("count") {
            begun.add(true)
            guard begun.all.count > 1 else { return numbers }
            return AsyncThrowingStream { $0.yield(9) }
        }
        #expect(state().isLoading)
        number.yield(1)
        try await until { $0["count"] == LoadState.loaded(1) }
        number.yield(2)
        try await until { $0["count"] == LoadState.loaded(2) }
        number.finish(throwing: Unplugged())
        try await until { !$0.tracker.failures().isEmpty }
        #expect(state().value == 2 && state().failure?.reason == Unplugged().message)
        loads.retry()
        try await until { $0["count"] == LoadState.loaded(9) }
        #expect(begun.all.count == 2)
    }

    @Test func `a load that is first asked for begins once`() async throws {
        let begun = Recording<Bool>()
        func cover() -> LoadState<Int> {
            loads.lazily("cover") {
                begun.add(true)
                return 7
            }
        }
        #expect(cover().isLoading)
        try await until { !$0.tracker.isLoading() }
        #expect(cover() == .loaded(7) && begun.all.count == 1)
    }

    @Test func `any load of an endpoint is tracked, and repeated with its value`() async throws {
        let http = TestHTTP(), first = TestGate(), gate = TestGate()
        http.on("GET", "http://books.test/count", .status(503).held(at: first), .json(text: "7").held(at: gate))
        let load = Endpoint<Int>("GET", "count").load(on: HTTPClient([http]).relative(to: "http://books.test"))
        loads.track("count", load)
        #expect(!loads.track("count", AnyLoad(load)), "one of the same runs")
        first.open()
        try await until { !$0.tracker.isLoading() }
        #expect(state().failure?.error.httpStatus == 503)
        loads.retry()
        #expect(state().isLoading && loads.tracker.failures().isEmpty)
        try await gate.arrivals()
        gate.open()
        try await until { !$0.tracker.isLoading() }
        #expect(state() == .loaded(7))
    }

    @Test func `nothing is shown of a tracked load that is cancelled`() async throws {
        let http = TestHTTP(), gate = TestGate()
        http.on("GET", "http://books.test/count", .json(text: "7").held(at: gate))
        let load = Endpoint<Int>("GET", "count").load(on: HTTPClient([http]).relative(to: "http://books.test"))
        loads.track("count", AnyLoad(load))
        try await gate.arrivals()
        loads.cancel()
        #expect(state() == .idle && loads.tracker.failures().isEmpty)
        guard case .failure(let error) = await load.result else {
            Issue.record("the load has succeeded")
            return
        }
        #expect(error.code == .callCancelled)
        #expect(state() == .idle && loads.tracker.count(of: .cancelled) == 1)
    }
}
