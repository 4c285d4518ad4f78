import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
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

/// What is shown of loads: overlays, buttons and images as views, and the events of their buttons.
@Suite(.timeLimit(.minutes(2)))
struct LoadingElementTests {
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

    private func until(_ isReached: @escaping @Sendable (LoadTracker) -> Bool) async throws {
        try await redraws.until { [loads] _ in isReached(loads.tracker) }
    }

    private func fail(_ keys: String...) async throws {
        for key in keys { loads.start(key) { () -> Int in throw Unplugged() } }
        try await until { !$0.isLoading() }
    }

    private func overlay(_ key: String? = nil, keepOnError: Bool = true) -> View {
        LoadOverlay(loads, key, keepOnError: keepOnError) { Text("Moby-Dick") }.view
    }

    /// The views in front of an overlay.
    private func front(_ overlay: View) -> [View] { overlay.children[0].children }

    private func button(_ title: String, of overlay: View) throws -> View {
        try #require(front(overlay).last?.children.first { $0.text == title })
    }

    @Test func `an overlay shows a loader from the first start to the last end`() async throws {
        let first = TestGate(), second = TestGate()
        #expect(front(overlay()).isEmpty)
        loads.start("books") { report in
            report(0.25)
            try await first.pass()
        }
        try await first.arrivals()
        #expect(front(overlay()).map(\.kind) == [.progress] && front(overlay()).first?.fraction == 0.25)
        loads.start("loans") { try await second.pass() }
        first.open()
        try await until { !$0.isLoading("books") }
        #expect(front(overlay()).map(\.kind) == [.progress])
        second.open()
        try await until { !$0.isLoading() }
        #expect(front(overlay()).isEmpty)
    }

    @Test func `the covered views keep their keys`() async throws {
        let before = overlay()
        try await fail("books")
        let after = overlay()
        #expect(before.kind == .overlay && before.id == after.id)
        #expect(before.children[1...] == after.children[1...])
        #expect(before.children[1...].map(\.text) == ["Moby-Dick"])
    }

    @Test func `after an error there is the reason, and two buttons`() async throws {
        try await fail("books")
        let texts = front(overlay()).filter { $0.kind == .text }
        #expect(texts.map(\.text) == ["the cable is not plugged in"] && texts.map(\.style) == [.critical])
        #expect(front(overlay()).last?.children.map(\.text) == ["Try again", "Cancel"])
    }

    @Test func `the loader takes precedence over an error`() async throws {
        let gate = TestGate()
        try await fail("books")
        loads.start("loans") { try await gate.pass() }
        #expect(front(overlay()).map(\.kind) == [.progress])
        gate.open()
        try await until { !$0.isLoading() }
        #expect(front(overlay()).first?.kind == .text)
    }

    @Test func `Try again repeats only what has failed`() async throws {
        let plugged = Recording<Bool>(), begun = Recording<String>()
        for key in ["books", "news"] {
            loads.start(key) {
                begun.add(key)
                if key == "books", plugged.all.isEmpty { throw Unplugged() }
            }
        }
        try await until { !$0.isLoading() }
        plugged.add(true)
        let event = ViewEvent(.press, try button("Try again", of: overlay()).id)
        #expect(try await loads.handle(event))
        try await until { !$0.isLoading() }
        #expect(begun.all.sorted() == ["books", "books", "news"])
        #expect(front(overlay()).isEmpty, "a later success removes it")
    }

    @Test func `Cancel removes the overlay, cancels no load, and calls its function`() async throws {
        let gate = TestGate(), called = Recording<Bool>()
        try await fail("books")
        let event = ViewEvent(.press, try button("Cancel", of: overlay()).id)
        loads.start("loans") { try await gate.pass() }
        let isHandled = try await loads.handle(event) { called.add(true) }
        #expect(isHandled && called.all.count == 1)
        #expect(loads.tracker.isLoading("loans") && loads.tracker.failures().isEmpty)
        gate.open()
        try await until { !$0.isLoading() }
        #expect(front(overlay()).isEmpty)
        await #expect(throws: Unplugged.self) { try await loads.handle(event) { throw Unplugged() } }
    }

    @Test func `nothing is shown of cancelled and redundant loads, nor of errors if so wanted`() async throws {
        for code in [BackplaneError.Code.callCancelled, .networkRedundant] {
            loads.start("books") { () -> Int in throw BackplaneError(code, "an error") }
            try await until { !$0.isLoading() }
            #expect(front(overlay()).isEmpty, "\(code)")
        }
        try await fail("books")
        #expect(front(overlay(keepOnError: false)).isEmpty)
    }

    @Test func `an overlay of one key concerns only its loads`() async throws {
        try await fail("books", "loans: due")
        let loans = overlay("loans: due"), retry = try button("Try again", of: loans)
        #expect(front(overlay("news")).isEmpty && loans.id != overlay("books").id)
        #expect(try await loads.handle(ViewEvent(.press, retry.id)))
        #expect(!loads.tracker.isLoading("books"))
        try await until { $0.count(of: .failed) == 3 }
        let cancel = try button("Cancel", of: overlay("books"))
        #expect(try await loads.handle(ViewEvent(.press, cancel.id)))
        #expect(loads.tracker.failures().map(\.key) == ["loans: due"])
    }

    @Test(arguments: ["borrow", "load.retry.later", "load.retryx:books", ""])
    func `the events of other views are left to the screen`(id: String) async throws {
        try await fail("books")
        let isHandled = try await loads.handle(ViewEvent(.press, id))
        #expect(!isHandled && loads.tracker.failures().count == 1)
        #expect(try await !loads.handle(ViewEvent(.change, "load.retry")))
    }

    @Test func `a button is busy and disabled from the first load to the last`() async throws {
        func view() -> View { LoadButton("Reload", id: "reload", loads, "books", "loans").view }
        let first = TestGate(), second = TestGate()
        #expect(view() == Button("Reload", id: "reload").view)
        loads.start("books") { try await first.pass() }
        loads.start("loans") { try await second.pass() }
        #expect(view().isBusy && view().isDisabled)
        first.open()
        try await until { !$0.isLoading("books") }
        #expect(view().isBusy && view().isDisabled)
        second.open()
        try await until { !$0.isLoading() }
        #expect(!view().isBusy && !view().isDisabled)
    }

    @Test func `a button changes as it is told, and back`() async throws {
        func view(_ states: [LoadButton.State]) -> View {
            LoadButton("Borrow", id: "borrow", loads, while: states).view
        }
        let gate = TestGate(), idle = Button("Borrow", id: "borrow").view
        let states: [[LoadButton.State]] = [
            [], [.loader], [.disabled], [.loader, .contentHidden], [.custom { $0 = $0.style(.secondary) }],
            [.contentHidden, .custom { $0.text = "Borrowing" }],
        ]
        #expect(states.allSatisfy { view($0) == idle })
        loads.start("borrow") { try await gate.pass() }
        #expect(
            states.map { view($0) } == [
                idle, idle.busy(), idle.disabled(), Button("", id: "borrow").busy(), idle.style(.secondary),
                Button("Borrowing", id: "borrow").view,
            ])
        gate.open()
        try await until { !$0.isLoading() }
        #expect(states.allSatisfy { view($0) == idle })
    }

    @Test func `an image has a placeholder, and an error, and then its address`() {
        let failure = LoadFailure(key: "cover", error: BackplaneError(.networkFailed, "no server"))
        func view(_ state: LoadState<String>) -> View { RemoteImage(state, description: "A whale").view }
        let placeholder = view(.loading(progress: nil, former: nil))
        #expect(placeholder.kind == .image && placeholder.text == "A whale" && placeholder.isBusy)
        #expect(placeholder.address.isEmpty && placeholder.id.isEmpty && placeholder.problem.isEmpty)
        let failed = view(.failed(failure, former: nil))
        #expect(failed.address.isEmpty && failed.problem == "no server" && !failed.isBusy)
        let loaded = view(.loaded("/covers/1.svg")), other = view(.loaded("/covers/2.svg"))
        #expect(loaded.address == "/covers/1.svg" && !loaded.isBusy && loaded.problem.isEmpty)
        #expect(other.address == "/covers/2.svg")
        #expect(view(.loading(progress: nil, former: "/covers/1.svg")) == loaded)
    }
}
