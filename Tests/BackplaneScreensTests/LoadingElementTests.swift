import Backplane
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
import Testing

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

    @Test func `a button shows the loads of its own name, whatever their end`() async throws {
        func view() -> View { LoadButton("Borrow", id: "borrow", loads).view }
        let gate = TestGate()
        loads.start("borrow") { () -> Int in
            try await gate.pass()
            throw Unplugged()
        }
        loads.start("other") { 1 }
        #expect(view().isBusy && view().isDisabled)
        gate.open()
        try await until { !$0.isLoading("borrow") }
        #expect(!view().isBusy && !view().isDisabled && view().text == "Borrow")
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
