public import Backplane
public import BackplaneScreens
import Synchronization

/// A window of an application: the view of one browser session, one terminal or one test.
///
/// ```swift
/// let window = try await app.makeWindow()
/// var revision = 0
/// while let drawing = await window.drawing(after: revision) {
///     revision = drawing.revision
///     show(drawing)
/// }
/// ```
///
/// Transitions that a person, a screen or an address requests take place one after another. Going back, selecting a tab
/// and opening an address cancel segues and other addresses whose screens are not shown yet. Functions that change the
/// stacks, such as ``push(_:onto:)``, take effect at once. Close a window when you are done with it.
public final class Window: Sendable, Identifiable {
    fileprivate struct State {
        var stacks = WindowState()
        /// The screens of `stacks`, by number.
        var screens: [Int: WindowScreen] = [:]
        /// The screens that were assembled for the window and are not in it yet.
        var assembled: [Int: WindowScreen] = [:]
        var revision = 1
        /// A Boolean value that indicates whether the host loads something from the network.
        var isLoading = false
        var isClosed = false
        var lastWaiter = 0
        /// The tasks that wait for a drawing; they receive `false` if no further drawing will come.
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// The tasks that notify the sources of closed screens, by the numbers of the screens.
        var closings: [Int: Task<Void, Never>] = [:]
    }
    /// The maximum number of screens in the stacks of a window.
    static let limit = 100
    let app: AppManager
    private let state = Mutex(State())
    private let turns = WindowTurns()

    init(_ app: AppManager) { self.app = app }

    deinit {
        // Their agents would otherwise wait for segues that nobody performs.
        for screen in state.withLock({ Array($0.screens.values) + $0.assembled.values }) {
            Task { await screen.close() }
        }
    }
}

// MARK: Drawing

extension Window {
    /// The current drawing of the window.
    public var drawing: WindowDrawing { state.withLock { $0.drawing } }

    /// Waits for a drawing with another number than the given one, and returns it; returns at once if there is one.
    ///
    /// Changes that occur together, or before the next request, have one drawing.
    ///
    /// - Returns: The newest drawing; `nil` once the window is closed, or the task is cancelled.
    public func drawing(after revision: Int) async -> WindowDrawing? {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let isThere = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state -> Bool? in
                    // Checked under the lock: a cancellation after this finds the waiter.
                    if state.isClosed || Task.isCancelled { return false }
                    if state.revision != revision { return true }
                    state.waiting[waiter] = continuation
                    return nil
                }
                if let isThere { continuation.resume(returning: isThere) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume(returning: false)
        }
        guard isThere else { return nil }
        return state.withLock { $0.isClosed ? nil : $0.drawing }
    }

    /// The screen in front; `nil` before the window is set up, and once it is closed.
    public var front: WindowScreen? { state.withLock { state in state.stacks.front.flatMap { state.screens[$0] } } }

    /// Returns the request to a flow for a decision about a screen, or about the new window.
    func flowRequest(_ destination: Destination? = nil, from source: WindowScreen? = nil) -> FlowRequest {
        let (stacks, screens) = state.withLock { ($0.stacks, $0.screens) }
        func identifiers(_ numbers: [Int]) -> [String] { numbers.compactMap { screens[$0]?.identifier } }
        return FlowRequest(
            destination, from: source?.identifier,
            tabs: stacks.hasTabs ? identifiers(stacks.stacks.compactMap(\.screens.first)) : [],
            tab: stacks.selected, stack: identifiers(stacks.selectedStack),
            modals: identifiers(stacks.modals.flatMap(\.self)))
    }

    /// Changes the drawing of a screen, and the drawing of the window if anything of the screen is visible.
    ///
    /// Both change together, so that each revision of the window always stands for the same drawing.
    func redraw(_ screen: WindowScreen, _ change: () -> Void) {
        let waiting = state.withLock { state in
            change()
            return state.stacks.shows(screen.number) ? state.change() : []
        }
        for waiter in waiting { waiter.resume(returning: true) }
    }

    /// Draws the window again, because the host has begun or finished loading something.
    func redraw() {
        let waiting = state.withLock { state in
            state.isLoading = app.isLoading
            return state.change()
        }
        for waiter in waiting { waiter.resume(returning: true) }
    }
}

extension Window.State {
    /// Begins another drawing, and returns the tasks that wait for it.
    mutating func change() -> [CheckedContinuation<Bool, Never>] {
        revision += 1
        defer { waiting = [:] }
        return Array(waiting.values)
    }

    var drawing: WindowDrawing {
        func shown(_ number: Int?) -> WindowDrawing.Shown? {
            guard let screen = number.flatMap({ screens[$0] }) else { return nil }
            let drawing = screen.drawing
            return WindowDrawing.Shown(
                number: screen.number, identifier: screen.identifier, destination: screen.destination,
                title: drawing.title, body: drawing.body, revision: drawing.revision,
                back: stacks.below(screen.number).flatMap { screens[$0]?.drawing.title })
        }
        let tabs = stacks.hasTabs ? stacks.stacks : []
        return WindowDrawing(
            revision: revision,
            tabs: tabs.compactMap { tab in
                tab.screens.first.flatMap { screens[$0] }.map {
                    WindowDrawing.Tab(identifier: $0.identifier, title: tab.title ?? $0.drawing.title)
                }
            },
            selected: stacks.selected, screen: shown(stacks.top), modal: shown(stacks.modal),
            alert: stacks.alerts.first, isLoading: isLoading)
    }
}

// MARK: Actions of a person

extension Window {
    /// Lets a screen handle an event, and returns once the resulting drawing is available.
    ///
    /// An error of the screen becomes an alert. An event is ignored if its screen or its view no longer exists, or its
    /// control is disabled.
    public func send(_ event: ViewEvent, to number: Int) async {
        guard let screen = state.withLock({ $0.screens[number] }),
            screen.drawing.body.found.contains(where: { $0.has(event) })
        else { return }
        do throws(BackplaneError) {
            try await screen.handle(event)
        } catch {
            guard !screen.isClosed, !screen.passesOn(error), !Task.isCancelled else { return }
            alert("“\(screen.drawing.title)” reports an error", error)
        }
    }

    /// Follows a link of a screen, as if the screen had requested the segue.
    public func follow(_ destination: Destination, from number: Int) async {
        guard let screen = state.withLock({ $0.screens[number] }) else { return }
        try? await turns.take(isSegue: true) { [self] () async throws(BackplaneError) in
            try await perform(destination, from: screen)
        }
    }

    /// Dismisses the front screen, as the application's flow decides; by default, the window goes back to the screen
    /// below.
    ///
    /// A pending segue or address is cancelled instead, and the front screen stays.
    public func goBack() async {
        guard let front else { return }
        let segues = turns.cancelSegues()
        try? await turns.take { [self] () async throws(BackplaneError) in
            for segue in segues {
                if case .failure(let error) = await segue.value, error.code == .callCancelled { return }
            }
            // The person does not leave a screen that has appeared since.
            if self.front === front { try await dismiss(front) }
        }
    }

    /// Selects a tab, and cancels a pending segue; does nothing if there is no tab with this index.
    public func select(tab: Int) async {
        turns.cancelSegues()
        try? await turns.take { [self] () async throws(BackplaneError) in change { $0.select(tab) } }
    }

    /// Removes the alert that is shown.
    public func dismissAlert() { change { $0.dismissAlert() } }

    /// Shows the screen of an address that was typed, or to which the browser has gone back.
    ///
    /// A screen in the selected stack, or at the root of a tab, is shown again. Any other screen is assembled, and
    /// shown as the application's flow decides; by default, it is pushed. A pending segue is cancelled.
    ///
    /// - Throws: The error that prevents the screen from being shown; `call.cancelled` if the person does something
    ///   else before; `screen.closed` if the window is closed.
    public func open(_ destination: Destination) async throws(BackplaneError) {
        turns.cancelSegues()
        try await turns.take(isSegue: true) { [self] () async throws(BackplaneError) in
            if !reveal(destination) { try await show(destination, from: nil) }
        }
    }

    /// Closes the window and all its screens, and waits until their sources are notified.
    public func close() async {
        turns.end()
        let (screens, waiting) = state.withLock { state -> ([WindowScreen], [CheckedContinuation<Bool, Never>]) in
            let screens = Array(state.screens.values) + state.assembled.values
            let waiting = state.change()
            (state.isClosed, state.stacks, state.screens, state.assembled) = (true, WindowState(), [:], [:])
            return (screens, waiting)
        }
        for waiter in waiting { waiter.resume(returning: false) }
        for screen in screens { begin(closing: screen) }
        for closing in state.withLock({ Array($0.closings.values) }) { await closing.value }
    }
}

extension FoundView {
    /// Returns whether the view, or one that it contains, has an event now.
    fileprivate func has(_ event: ViewEvent) -> Bool {
        // In a long list, only the row of the event is searched.
        guard event.rows.starts(with: rows) else { return false }
        if view.id == event.id, rows == event.rows, self.event(event.kind, value: event.value) != nil { return true }
        return children.contains { $0.has(event) }
    }
}

// MARK: Requests of screens

extension Window {
    /// Lets the application show its first screens.
    func setUp() async throws(BackplaneError) {
        try await turns.take { [self] () async throws(BackplaneError) in
            do { try await app.setup(in: self) } catch { throw BackplaneError(thrown: error) }
        }
    }

    /// Performs a segue that a screen requests, and notifies the screen of its end.
    func request(_ segue: Segue, of screen: WindowScreen) {
        turns.add(isSegue: true) { [self] () async throws(BackplaneError) in
            do throws(BackplaneError) {
                try await perform(segue.destination, from: screen)
                await screen.end(segue.number, nil)
            } catch {
                await screen.end(segue.number, error)
                throw error
            }
        }
    }

    /// Dismisses a screen at its request, and notifies the screen of the end.
    func requestDismissal(_ number: Segue.Number, of screen: WindowScreen) {
        turns.add { [self] in
            do throws(BackplaneError) {
                try await dismiss(screen)
                await screen.end(number, nil)
            } catch {
                await screen.end(number, error)
            }
        }
    }

    /// Tells the person that a screen no longer works; its last drawing remains.
    func lost(_ screen: WindowScreen, _ error: BackplaneError) {
        if contains(screen) { alert("“\(screen.drawing.title)” no longer works", error) }
    }

    /// Shows the target of a segue; shows an alert if that fails for a reason other than cancellation.
    private func perform(_ destination: Destination, from source: WindowScreen) async throws(BackplaneError) {
        guard contains(source) else { throw .screenClosed }
        do throws(BackplaneError) { try await show(destination, from: source) } catch {
            if contains(source), !Task.isCancelled {
                await alert(notShown: destination.screen, error, from: source)
            }
            throw error
        }
    }

    /// Lets the application dismiss a screen; if that fails, shows an alert.
    private func dismiss(_ screen: WindowScreen) async throws(BackplaneError) {
        guard contains(screen) else { throw .screenClosed }
        do {
            try await app.dismiss(screen, identifier: screen.identifier, in: self)
        } catch {
            let error = BackplaneError(thrown: error)
            alert("“\(screen.drawing.title)” cannot be left", error)
            throw error
        }
    }

    /// Assembles a screen, lets the application show it, and closes it if the application has not.
    private func show(_ destination: Destination, from source: WindowScreen?) async throws(BackplaneError) {
        do {
            try Task.checkCancellation()
            let screen = try await app.assemble(destination, in: self)
            defer { discard(screen) }
            try Task.checkCancellation()
            if let source, !contains(source) { throw BackplaneError.screenClosed }
            try await app.show(screen, from: source, identifier: screen.identifier, in: self)
        } catch {
            guard !Task.isCancelled else {
                throw BackplaneError(
                    .callCancelled,
                    "`\(destination.screen)` is not shown, because the person has done something else meanwhile")
            }
            throw BackplaneError(thrown: error)
        }
    }

    /// Shows the application's alert screen for a screen that is not shown, or else an alert with the reason.
    ///
    /// If the alert screen itself, or a segue that it requests, is not shown, an alert with the reason appears.
    private func alert(notShown identifier: String, _ error: BackplaneError, from source: WindowScreen) async {
        let alertScreen = AppManager.alertScreen
        if identifier != alertScreen, source.identifier != alertScreen, app.hasScreen(alertScreen),
            let screen = try? await app.screen(for: alertScreen, data: ["identifier": identifier], in: self)
        {
            return present(screen)
        }
        alert("`\(identifier)` cannot be shown", error)
    }

    private func alert(_ title: String, _ error: BackplaneError) {
        let place = error.location.map { "\($0): " } ?? ""
        change { $0.alert(WindowDrawing.Alert(title: title, message: place + error.message)) }
    }
}

// MARK: Transitions of a flow

extension Window {
    /// Puts a screen on the stack of another one, or on the front stack.
    public func push(_ screen: WindowScreen, onto source: WindowScreen? = nil) {
        place([screen]) { stacks in
            stacks.push(screen.number, onto: source?.number)
            return []
        }
    }

    /// Shows a screen over everything, as a modal screen.
    public func present(_ screen: WindowScreen) {
        place([screen]) { stacks in
            stacks.present(screen.number)
            return []
        }
    }

    /// Replaces the front screen, which is closed.
    public func replace(_ screen: WindowScreen) { place([screen]) { $0.replace(screen.number) } }

    /// Removes a screen, which is closed; the root of a tab remains.
    public func remove(_ screen: WindowScreen) { place([]) { $0.remove(screen.number) } }

    /// Removes the front screen, which is closed; the root of a tab remains.
    public func pop() { place([]) { stacks in stacks.front.map { stacks.remove($0) } ?? [] } }

    /// Reduces the front stack to its root; its other screens are closed.
    public func popToRoot() { place([]) { $0.popToRoot() } }

    /// Sets the tabs of the window; all other screens are closed.
    ///
    /// - Parameters:
    ///   - screens: The roots of the tabs.
    ///   - titles: The titles of the tabs; a missing title is the title of the screen.
    public func setTabs(_ screens: [WindowScreen], titles: [String?] = []) {
        let roots = screens.enumerated().map { index, screen in
            (screen: screen.number, title: titles.indices.contains(index) ? titles[index] : nil)
        }
        place(screens) { $0.setStacks(roots, hasTabs: true) }
    }

    /// Sets one stack without tabs; all other screens of the window are closed.
    public func setRoot(_ screen: WindowScreen) {
        place([screen]) { $0.setStacks([(screen.number, nil)], hasTabs: false) }
    }
}

// MARK: Screens

extension Window {
    func contains(_ screen: WindowScreen) -> Bool { state.withLock { $0.screens[screen.number] != nil } }

    /// Throws `screen.not-assembled` if the window cannot have another screen.
    ///
    /// The limit prevents a screen that shows itself again and again from using up all memory.
    func requireRoom() throws(BackplaneError) {
        guard state.withLock({ $0.screens.count + $0.assembled.count }) >= Self.limit else { return }
        throw BackplaneError(
            .screenNotAssembled,
            "the window has \(Self.limit) open screens, and cannot have more; go back before you open another one")
    }

    /// Keeps a screen that was assembled for the window; returns `false` if the window is closed.
    func adopt(_ screen: WindowScreen) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.assembled[screen.number] = screen }
            return !state.isClosed
        }
        if !isOpen { begin(closing: screen) }
        return isOpen
    }

    /// Closes a screen that was assembled for the window and is not in it.
    private func discard(_ screen: WindowScreen) {
        if state.withLock({ $0.assembled.removeValue(forKey: screen.number) }) != nil { begin(closing: screen) }
    }

    /// Makes a transition with screens that were assembled for the window, and closes the ones that leave it.
    private func place(_ screens: [WindowScreen], _ transition: (inout WindowState) -> [Int]) {
        let (gone, waiting) = state.withLock { state -> ([WindowScreen], [CheckedContinuation<Bool, Never>]) in
            // A closed screen or a screen of another window cannot be shown.
            let isPossible = screens.allSatisfy { screen in
                state.assembled[screen.number] === screen || state.screens[screen.number] === screen
            }
            guard isPossible, !state.isClosed else { return ([], []) }
            let numbers = transition(&state.stacks)
            for screen in screens {
                state.assembled[screen.number] = nil
                state.screens[screen.number] = screen
            }
            return (numbers.compactMap { state.screens.removeValue(forKey: $0) }, state.change())
        }
        for waiter in waiting { waiter.resume(returning: true) }
        for screen in screens where contains(screen) { screen.follow() }
        // Before a screen is closed, it is notified of the end of the segue that removes it.
        for screen in gone { turns.afterwards { [self] in begin(closing: screen) } }
    }

    /// Shows a screen in the selected stack, or at the root of a tab, again; returns `false` if there is none.
    private func reveal(_ destination: Destination) -> Bool {
        let found = state.withLock { state in
            state.stacks.near.first { state.screens[$0]?.destination == destination }
        }
        guard let found else { return false }
        place([]) { $0.reveal(found) }
        return true
    }

    /// Changes the parts of the window other than screens.
    private func change(_ body: (inout WindowState) -> Void) {
        place([]) { stacks in
            body(&stacks)
            return []
        }
    }

    private func begin(closing screen: WindowScreen) {
        let number = screen.number
        state.withLock { content in
            content.closings[number] = Task { [self] in
                await screen.close()
                state.withLock { $0.closings[number] = nil }
            }
        }
    }
}
