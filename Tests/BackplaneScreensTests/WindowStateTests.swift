import Backplane
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneApp

/// The stacks of a window, by the numbers of screens.
struct `Stacks of a window` {
    /// A window without tabs, with the root 1.
    private static var one: WindowState {
        var state = WindowState()
        _ = state.setStacks([(1, nil)], hasTabs: false)
        return state
    }

    /// A window with two tabs, whose stacks are 1, 2, 3 and 4, 5.
    private static var two: WindowState {
        var state = WindowState()
        _ = state.setStacks([(1, "A"), (4, nil)], hasTabs: true)
        state.push(2)
        state.push(3)
        state.push(5, onto: 4)
        return state
    }

    private func stacks(_ state: WindowState) -> [[Int]] { state.stacks.map(\.screens) }

    @Test func `A new window is empty, and the first screen is its root`() {
        var state = WindowState()
        #expect(state.front == nil && state.screens == [] && !state.hasTabs)
        #expect(state.remove(1) == [] && state.popToRoot() == [] && state.reveal(1) == [])
        state.push(1)
        #expect(stacks(state) == [[1]] && state.front == 1 && state.below(1) == nil)
        var other = WindowState()
        #expect(other.replace(2) == [])
        #expect(stacks(other) == [[2]])
    }

    @Test func `A screen is pushed onto the stack of its source, or onto the front one`() {
        var state = Self.two
        #expect(stacks(state) == [[1, 2, 3], [4, 5]])
        #expect(state.front == 3 && state.below(3) == 2)
        state.present(6)
        state.push(7)
        #expect(state.modals == [[6, 7]] && state.front == 7 && state.top == 3 && state.below(7) == 6)
        state.push(8, onto: 1)
        #expect(stacks(state) == [[1, 2, 3, 8], [4, 5]])
        state.push(8, onto: 4)
        state.present(8)
        #expect(state.replace(8) == [])
        #expect(stacks(state) == [[1, 2, 3, 8], [4, 5]] && state.modals == [[6, 7]])
    }

    @Test func `The front screen is replaced, and a root as well`() {
        var state = Self.two
        #expect(state.replace(9) == [3])
        #expect(stacks(state) == [[1, 2, 9], [4, 5]])
        state.present(6)
        #expect(state.replace(7) == [6])
        #expect(state.modals == [[7]])
        var root = Self.one
        #expect(root.replace(2) == [1])
        #expect(stacks(root) == [[2]])
    }

    @Test func `The root of a tab remains, and the root of a modal stack takes it along`() {
        var state = Self.one
        #expect(state.remove(1) == [])
        #expect(stacks(state) == [[1]])
        state.push(2)
        #expect(state.remove(1) == [])
        #expect(stacks(state) == [[1, 2]])
        state.present(3)
        #expect(state.remove(3) == [3])
        #expect(state.modals == [] && state.front == 2)
    }

    @Test func `A screen in the middle is removed alone`() {
        var state = Self.two
        #expect(state.remove(2) == [2])
        #expect(stacks(state) == [[1, 3], [4, 5]])
        #expect(state.below(3) == 1 && state.front == 3)
        state.present(6)
        state.push(7)
        state.present(8)
        #expect(state.remove(6) == [6])
        #expect(state.modals == [[7], [8]])
        #expect(state.remove(7) == [7])
        #expect(state.modals == [[8]])
        #expect(state.remove(99) == [])
    }

    @Test func `The front stack is reduced to its root`() {
        var state = Self.two
        #expect(state.popToRoot() == [2, 3])
        #expect(stacks(state) == [[1], [4, 5]])
        #expect(state.popToRoot() == [])
        state.present(6)
        state.push(7)
        #expect(state.popToRoot() == [7])
        #expect(state.modals == [[6]] && stacks(state) == [[1], [4, 5]])
    }

    @Test func `Each tab has a stack of its own, and only an existing one is selected`() {
        var state = Self.two
        state.select(1)
        #expect(state.front == 5)
        state.push(6)
        state.select(2)
        state.select(-1)
        #expect(state.selected == 1 && stacks(state) == [[1, 2, 3], [4, 5, 6]])
        #expect(state.stacks.map(\.title) == ["A", nil])
    }

    @Test func `A screen is revealed by its tab, and without what is above it`() {
        var state = Self.two
        state.select(1)
        state.present(6)
        state.push(7)
        state.present(8)
        var modal = state
        #expect(modal.reveal(6) == [7, 8])
        #expect(modal.modals == [[6]] && modal.selected == 1)
        #expect(state.reveal(2) == [3, 6, 7, 8])
        #expect(state.selected == 0 && stacks(state) == [[1, 2], [4, 5]] && state.modals == [])
        #expect(state.reveal(2) == [])
    }

    @Test func `Others leave the window when it is set up again`() {
        var state = Self.two
        state.present(6)
        #expect(Set(state.setStacks([(9, nil), (4, "B"), (9, nil)], hasTabs: true)) == [1, 2, 3, 5, 6])
        #expect(stacks(state) == [[9], [4]] && state.selected == 0 && state.modals == [])
        #expect(state.setStacks([(4, nil)], hasTabs: false) == [9])
        #expect(!state.hasTabs && stacks(state) == [[4]])
    }

    @Test func `What is visible are the front screens, those below them, and the roots of tabs`() {
        var state = Self.two
        #expect((1...5).filter(state.shows) == [1, 2, 3, 4])
        state.present(6)
        state.push(7)
        state.push(8)
        #expect((1...8).filter(state.shows) == [1, 2, 3, 4, 7, 8])
        #expect(state.near == [8, 7, 6, 3, 2, 1, 1, 4])
    }

    @Test func `Alerts are shown one after another, equal ones once, and not too many`() {
        var state = Self.one
        func alert(_ number: Int) -> WindowDrawing.Alert { .init(title: "T", message: "\(number)") }
        for number in [1, 2, 1, 2] { state.alert(alert(number)) }
        #expect(state.alerts == [alert(1), alert(2)])
        state.dismissAlert()
        #expect(state.alerts == [alert(2)])
        state.dismissAlert()
        state.dismissAlert()
        for number in 0..<1_000 { state.alert(alert(number)) }
        #expect(state.alerts.count == 10 && state.alerts.first == alert(0))
    }

    /// Every transition from every window that a few transitions lead to.
    @Test func `No transition loses a screen, keeps one twice or leaves an empty stack`() {
        let transitions: [(String, (inout WindowState, Int) -> [Int], isNew: Bool)] = [
            (
                "push",
                { state, new in
                    state.push(new)
                    return []
                }, true
            ),
            (
                "push onto 1",
                { state, new in
                    state.push(new, onto: 1)
                    return []
                }, true
            ),
            (
                "present",
                { state, new in
                    state.present(new)
                    return []
                }, true
            ),
            ("replace", { $0.replace($1) }, true),
            ("remove front", { state, _ in state.front.map { state.remove($0) } ?? [] }, false),
            (
                "remove any",
                { state, new in state.screens.isEmpty ? [] : state.remove(state.screens[new % state.screens.count]) },
                false
            ),
            ("pop to root", { state, _ in state.popToRoot() }, false),
            (
                "reveal",
                { state, new in state.screens.isEmpty ? [] : state.reveal(state.screens[new % state.screens.count]) },
                false
            ),
            (
                "select",
                { state, new in
                    state.select(new % 3)
                    return []
                }, false
            ),
            ("tabs", { state, new in state.setStacks([(new, nil), (new + 1_000, nil)], hasTabs: true) }, true),
        ]
        func check(_ state: WindowState, _ path: [String]) {
            let screens = state.screens
            #expect(Set(screens).count == screens.count, "\(path)")
            #expect(
                state.stacks.allSatisfy { !$0.screens.isEmpty } && state.modals.allSatisfy { !$0.isEmpty }, "\(path)")
            #expect(state.stacks.isEmpty || state.stacks.indices.contains(state.selected), "\(path)")
            guard path.count < 3 else { return }
            for (name, transition, isNew) in transitions {
                var next = state
                let new = path.count + 10, gone = transition(&next, new)
                var expected = Set(screens).subtracting(gone)
                if isNew { expected.insert(new) }
                if name == "tabs" { expected.insert(new + 1_000) }
                #expect(Set(next.screens) == expected, "\(path + [name])")
                #expect(Set(gone).isSubset(of: screens), "\(path + [name])")
                check(next, path + [name])
            }
        }
        check(WindowState(), [])
        check(Self.two, [])
    }
}

/// What a person does while the target of a segue is assembled.
@Suite(.timeLimit(.minutes(5)))
struct `Segues that are pending` {
    private let gate = TestGate()
    private let ends = Recording<String>()

    /// A script whose button `open` shows page 1, which is not assembled before the gate is open, cancelled or not.
    private func script() -> Script {
        Script(
            buttons: [
                "open": { [ends] agent in
                    do throws(BackplaneError) {
                        try await agent.performSegue(to: "page", data: ["number": 1])
                        return "opened"
                    } catch {
                        ends.add(error.code.rawValue)
                        throw error
                    }
                },
                "inner": { agent in
                    try await agent.performSegue(to: "inner")
                    return "inner"
                },
            ], pageAssembly: { [gate] number in if number == 1 { await gate.passThoughCancelled() } })
    }

    /// Checks that page 1 is closed once it is assembled, and has not been shown.
    private func expectNoPage(_ script: Script) async throws {
        gate.open()
        for agent in script.agents.all { await eventually { agent.isInert } }
    }

    /// The ways in which a page is requested.
    enum Request: CaseIterable { case segue, link, address }

    @Test(arguments: Request.allCases)
    func `Going back only cancels it, without an alert`(request: Request) async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, app, _ in
            try app.register(screen: ScriptedScreen.self, forIdentifier: "inner")
            await window.press("inner")
            let inner = try #require(window.front), page = try Destination("page", ["number": 1])
            let pending = Task {
                switch request {
                case .segue: await window.press("open")
                case .link: await window.follow(page, from: inner.number)
                case .address: ends.add(await code { try await window.open(page) })
                }
            }
            try await gate.arrivals()
            await window.goBack()
            await pending.value
            #expect(ends.all == (request == .link ? [] : ["call.cancelled"]))
            try await expectNoPage(script)
            #expect(window.front === inner && window.drawing.alert == nil)
            await window.goBack()
            #expect(window.front?.identifier == "home")
        }
    }

    @Test func `Selecting a tab cancels it, and then selects`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, app, _ in
            let tabs = [
                try await app.screen(for: "home", in: window),
                try await app.screen(for: "page", data: ["number": 8], in: window),
            ]
            window.setTabs(tabs)
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            await window.select(tab: 1)
            #expect(window.path == ["Page 8"])
            await pressed
            #expect(ends.all == ["call.cancelled"])
            gate.open()
            let agent = try await script.agents.first(2)[1]
            await eventually { agent.isInert }
            await window.select(tab: 0)
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    @Test func `Opening an address cancels it, and then shows the screen`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, _, _ in
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            try await window.open(try Destination("page", ["number": 2]))
            #expect(window.path == ["Home", "Page 2"])
            await pressed
            #expect(ends.all == ["call.cancelled"])
            gate.open()
            let agent = try await script.agents.first(2)[0]
            await eventually { agent.isInert }
            #expect(window.path == ["Home", "Page 2"] && window.drawing.alert == nil)
        }
    }

    @Test func `A segue of a plugin's screen is cancelled without an alert, whatever the lane`() async throws {
        for lanes in [LaneRule.fastest, .encoded] {
            let gate = TestGate()
            let script = Script(pageAssembly: { _ in await gate.passThoughCancelled() })
            let manifest = Manifest(managers: ["LobbyScreens": ManagerDefinition()])
            try await TestHost.run(manifest, plugins: [LobbyPlugin.self], lanes: lanes) { host in
                let app = ProgramApp(host.host)
                app.register(service: script)
                try app.register(screen: ScriptedScreen.self)
                try app.register(screen: PageScreen.self)
                let window = try await app.makeWindow()
                try await window.open(try Destination("lobby"))
                async let pressed: Void = window.press("open")
                try await gate.arrivals()
                await window.goBack()
                await pressed
                #expect(window.front?.identifier == "lobby" && window.drawing.alert == nil)
                gate.open()
                let agent = try await script.agents.first(1)[0]
                await eventually { agent.isInert }
                await window.goBack()
                #expect(window.path == ["Home"] && window.drawing.alert == nil)
                await window.close()
            }
        }
    }

    // MARK: Turns

    @Test func `Those that wait are cancelled as well, and other transitions are not`() async throws {
        let turns = WindowTurns(), log = Recording<String>()
        turns.add(isSegue: true) { [gate] in
            await gate.passThoughCancelled()
            log.add("first \(Task.isCancelled)")
        }
        turns.add(isSegue: true) { log.add("second \(Task.isCancelled)") }
        turns.add { log.add("third \(Task.isCancelled)") }
        try await gate.arrivals()
        #expect(turns.cancelSegues().count == 2)
        turns.add(isSegue: true) { log.add("fourth \(Task.isCancelled)") }
        gate.open()
        try await turns.take { log.add("last") }
        #expect(log.all == ["first true", "second true", "third false", "fourth false", "last"])
        #expect(turns.cancelSegues().isEmpty, "they have ended")
    }

    @Test func `A transition within another one takes place at once, and cancels nothing`() async throws {
        let turns = WindowTurns(), log = Recording<String>()
        try await turns.take(isSegue: true) { () async throws(BackplaneError) in
            log.add("begins")
            #expect(turns.cancelSegues().isEmpty)
            try await turns.take { log.add("within") }
            turns.afterwards { log.add("afterwards") }
            log.add("ends \(Task.isCancelled)")
        }
        #expect(log.all == ["begins", "within", "ends false", "afterwards"])
        turns.end()
        #expect(await error { try await turns.take { log.add("late") } }?.code == .screenClosed)
        #expect(log.all.count == 4)
    }
}
