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
