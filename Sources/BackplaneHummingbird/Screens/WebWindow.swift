#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneNetwork
import Synchronization

/// The window of a tab or a browser, which begins to open at once.
final class WebWindow: Sendable {
    /// The number by which pages name the window.
    let number: Int
    private let opening: Task<Result<Window, BackplaneError>, Never>
    private let opened = Mutex<Window?>(nil)
    private let lastPage = Mutex<Int?>(nil)

    init(number: Int, of app: AppManager) {
        self.number = number
        opening = Task {
            do throws(BackplaneError) { return .success(try await app.makeWindow()) } catch { return .failure(error) }
        }
    }

    /// Returns the window, once it is set up.
    ///
    /// - Throws: The error that prevents the window from being set up.
    func window() async throws(BackplaneError) -> Window {
        let window = try await opening.value.get()
        opened.withLock { $0 = window }
        return window
    }

    /// Returns whether the window shows a screen.
    func shows(_ screen: Int) -> Bool { opened.withLock(\.self)?.drawing.shows(screen) == true }

    /// The current drawing of the window; `nil` if the window has not been used.
    var drawing: WindowDrawing? { opened.withLock(\.self)?.drawing }

    /// The revision of the drawing that the last page of the window shows; `nil` if there is none.
    var pageRevision: Int? { lastPage.withLock(\.self) }

    func note(pageAt revision: Int) { lastPage.withLock { $0 = revision } }

    /// Closes the window, which may still be opened.
    func close() async {
        if case .success(let window) = await opening.value { await window.close() }
    }
}

/// The windows of all browsers, which are closed after they were unused for a while.
final class WebWindows: Sendable {
    /// A request's use of a window, during which it is not closed.
    final class Use: Sendable {
        let window: WebWindow
        /// A Boolean value that indicates whether the tab uses the window for the first time.
        let isFirst: Bool
        private let windows: WebWindows

        fileprivate init(_ window: WebWindow, isFirst: Bool, of windows: WebWindows) {
            (self.window, self.isFirst, self.windows) = (window, isFirst, windows)
        }

        deinit { windows.leave(window.number) }
    }
    private struct State {
        var table: WindowTable<WebWindow>
        /// A Boolean value that indicates whether the clock will look for unused windows.
        var isScheduled = false
    }
    private let app: AppManager
    private let alarm = Race.newAlarm()
    private let state: Mutex<State>

    init(_ app: AppManager, limit: Int, patience: Duration) {
        self.app = app
        state = Mutex(State(table: WindowTable(limit: limit, patience: patience)))
    }

    deinit { app.host.clock.cancel(alarm) }

    /// Begins to use the window of a tab; returns `nil` if too many others are in use.
    ///
    /// - Parameters:
    ///   - tab: The tab; `nil` for a page without script.
    ///   - page: The number of the window that the tab's page shows.
    func enter(_ browser: ScreenAccess.Browser, tab: String?, page: Int? = nil) -> Use? {
        let now = app.host.clock.moment
        let entered = state.withLock { state in
            state.table.enter(browser.id, tab: tab, page: page, at: now) { WebWindow(number: $0, of: app) }
        }
        guard let entered else { return nil }
        close(entered.closed)
        return Use(entered.entry.window, isFirst: entered.isFirst, of: self)
    }

    /// Begins to use the window of a browser that shows a screen, or else the window of its pages without script.
    func enter(_ browser: ScreenAccess.Browser, showing screen: Int?) -> Use? {
        let entry = all(of: browser).first { entry in screen.map { entry.window.shows($0) } ?? false }
        return enter(browser, tab: entry?.tab)
    }

    /// Returns the windows of a browser.
    func all(of browser: ScreenAccess.Browser) -> [WindowTable<WebWindow>.Entry] {
        state.withLock { $0.table.entries.filter { $0.browser == browser.id } }
    }

    /// Forgets a window that could not be opened.
    func forget(_ window: WebWindow) { state.withLock { $0.table.remove(window.number) } }

    /// Closes all windows, and waits until they are closed.
    func closeAll() async {
        await Self.close(state.withLock { $0.table.removeAll() })
    }

    private func leave(_ number: Int) {
        let now = app.host.clock.moment
        let end = state.withLock { state -> Deadline? in
            state.table.leave(number, at: now)
            guard !state.isScheduled, let end = state.table.nextEnd else { return nil }
            state.isScheduled = true
            return end
        }
        if let end { schedule(at: end) }
    }

    private func schedule(at end: Deadline) {
        app.host.clock.schedule(alarm, at: end) { [weak self] in self?.closeUnused() }
    }

    private func closeUnused() {
        let now = app.host.clock.moment
        let (unused, end) = state.withLock { state in
            let unused = state.table.removeUnused(at: now), end = state.table.nextEnd
            state.isScheduled = end != nil
            return (unused, end)
        }
        close(unused)
        if let end { schedule(at: end) }
    }

    private func close(_ windows: [WebWindow]) {
        guard !windows.isEmpty else { return }
        Task { await Self.close(windows) }
    }

    private static func close(_ windows: [WebWindow]) async {
        // Together, since a screen that does not close must not keep other windows open.
        await withTaskGroup(of: Void.self) { group in
            for window in windows { group.addTask { await window.close() } }
        }
    }
}
#endif
