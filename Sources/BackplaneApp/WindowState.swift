/// The screens of a window by their numbers: a stack for each tab, and above the selected one stacks of modal screens.
///
/// A screen is in the window at most once. A transition returns the screens that it removes, so that they can be
/// closed.
struct WindowState: Sendable, Equatable {
    /// A stack of screens, the root first, which is never empty.
    struct Stack: Sendable, Equatable {
        var screens: [Int]
        /// The title of the tab; `nil` for the title of its root.
        var title: String?
    }
    /// The stack of each tab; one stack for a window without tabs, and none before it is set up.
    private(set) var stacks: [Stack] = []
    /// A Boolean value that indicates whether the window has tabs.
    private(set) var hasTabs = false
    /// The index of the selected stack.
    private(set) var selected = 0
    /// The stacks of modal screens; the last one is on top.
    private(set) var modals: [[Int]] = []
    /// The messages over everything; the first one is shown.
    private(set) var alerts: [WindowDrawing.Alert] = []
    /// The number of messages that are kept, beyond which new ones are dropped.
    private static let mostAlerts = 10

    /// All screens.
    var screens: [Int] { stacks.flatMap(\.screens) + modals.flatMap(\.self) }
    /// The screens to which a person can return: the screens of the modal stacks and the selected one, from front to
    /// back, and the roots of the tabs.
    var near: [Int] {
        (selectedStack + modals.flatMap(\.self)).reversed() + stacks.compactMap(\.screens.first)
    }
    /// The screens of the selected stack, the root first.
    var selectedStack: [Int] { stacks.indices.contains(selected) ? stacks[selected].screens : [] }
    /// The top of the selected stack.
    var top: Int? { selectedStack.last }
    /// The modal screen that is on top.
    var modal: Int? { modals.last?.last }
    /// The screen in front.
    var front: Int? { modal ?? top }

    func contains(_ screen: Int) -> Bool { stack(of: screen) != nil }

    /// Returns the screen below another one in its stack; `nil` for a root.
    func below(_ screen: Int) -> Int? {
        guard let place = stack(of: screen), let index = self[place].firstIndex(of: screen), index > 0 else {
            return nil
        }
        return self[place][index - 1]
    }

    /// Returns whether something of a screen is visible: its body, or its title in a tab or as the way back.
    func shows(_ screen: Int) -> Bool {
        [top, modal].compactMap(\.self).contains { $0 == screen || below($0) == screen }
            || hasTabs && stacks.contains { $0.screens.first == screen }
    }
}

// MARK: Transitions

extension WindowState {
    /// Gives the window tabs with the given roots, or one stack without a tab.
    ///
    /// - Returns: The screens that leave the window.
    mutating func setStacks(_ roots: [(screen: Int, title: String?)], hasTabs: Bool) -> [Int] {
        let former = screens
        var known: Set<Int> = []
        stacks = roots.filter { known.insert($0.screen).inserted }.map { Stack(screens: [$0.screen], title: $0.title) }
        (self.hasTabs, selected, modals) = (hasTabs, 0, [])
        return former.filter { !contains($0) }
    }

    /// Puts a screen on the stack of another one, or on the front stack.
    mutating func push(_ screen: Int, onto source: Int? = nil) {
        guard !contains(screen) else { return }
        guard let place = stack(of: source) ?? stack(of: front) else {
            stacks = [Stack(screens: [screen])]
            return
        }
        self[place].append(screen)
    }

    /// Shows a screen over everything.
    mutating func present(_ screen: Int) {
        if !contains(screen) { modals.append([screen]) }
    }

    /// Replaces the front screen.
    ///
    /// - Returns: The screen that leaves the window.
    mutating func replace(_ screen: Int) -> [Int] {
        guard !contains(screen) else { return [] }
        guard let front, let place = stack(of: front) else {
            push(screen)
            return []
        }
        self[place].removeLast()
        self[place].append(screen)
        return [front]
    }

    /// Removes a screen; with the root of a modal stack, removes the stack. Stacks above it and the root of a tab
    /// remain.
    ///
    /// - Returns: The screen, if it leaves the window.
    mutating func remove(_ screen: Int) -> [Int] {
        guard let place = stack(of: screen) else { return [] }
        if case .tab = place, self[place].first == screen { return [] }
        self[place].removeAll { $0 == screen }
        modals.removeAll { $0.isEmpty }
        return [screen]
    }

    /// Reduces the front stack to its root.
    ///
    /// - Returns: The screens that leave the window.
    mutating func popToRoot() -> [Int] {
        guard let place = stack(of: front) else { return [] }
        let gone = Array(self[place].dropFirst())
        self[place].removeLast(gone.count)
        return gone
    }

    /// Makes a screen of the window the front one, by selecting its tab and removing the screens above it.
    ///
    /// - Returns: The screens that leave the window.
    mutating func reveal(_ screen: Int) -> [Int] {
        guard let place = stack(of: screen), let index = self[place].firstIndex(of: screen) else { return [] }
        var gone = Array(self[place][(index + 1)...])
        self[place].removeLast(gone.count)
        let kept: Int
        switch place {
        case .tab(let tab):
            selected = tab
            kept = 0
        case .modal(let modal): kept = modal + 1
        }
        gone += modals[kept...].flatMap(\.self)
        modals.removeLast(modals.count - kept)
        return gone
    }

    /// Selects a tab, if it exists.
    mutating func select(_ tab: Int) {
        if stacks.indices.contains(tab) { selected = tab }
    }

    /// Adds a message, unless it is present already.
    mutating func alert(_ alert: WindowDrawing.Alert) {
        if alerts.count < Self.mostAlerts, !alerts.contains(alert) { alerts.append(alert) }
    }

    /// Removes the message that is shown.
    mutating func dismissAlert() {
        if !alerts.isEmpty { alerts.removeFirst() }
    }
}

// MARK: Places

extension WindowState {
    /// The stack that a screen is in.
    private enum Place {
        case tab(Int), modal(Int)
    }

    private func stack(of screen: Int?) -> Place? {
        guard let screen else { return nil }
        return stacks.firstIndex { $0.screens.contains(screen) }.map(Place.tab)
            ?? modals.firstIndex { $0.contains(screen) }.map(Place.modal)
    }

    private subscript(_ place: Place) -> [Int] {
        get {
            switch place {
            case .tab(let tab): stacks[tab].screens
            case .modal(let modal): modals[modal]
            }
        }
        set {
            switch place {
            case .tab(let tab): stacks[tab].screens = newValue
            case .modal(let modal): modals[modal] = newValue
            }
        }
    }
}
