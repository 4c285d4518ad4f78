#if Engines
import Backplane

/// The limited set of windows of all browsers, which decides which window is used and which windows are closed.
///
/// A tab with script has its own window. All other tabs of a browser share one window, which the next script adopts.
struct WindowTable<Window> {
    struct Entry {
        let number: Int
        let browser: String
        /// The tab to which the window belongs; `nil` for the window of pages without script.
        fileprivate(set) var tab: String?
        let window: Window
        /// The number of requests that use it.
        fileprivate var uses = 1
        /// The end of the last use.
        fileprivate var lastUse: Deadline
    }
    /// The maximum numbers of windows in total and for one browser.
    let limit: Int, limitOfBrowser: Int
    /// The time after which an unused window is closed.
    let patience: Duration
    private(set) var entries: [Entry] = []
    private var last = 0

    init(limit: Int, limitOfBrowser: Int = 16, patience: Duration) {
        (self.limit, self.limitOfBrowser, self.patience) = (limit, limitOfBrowser, patience)
    }

    /// Begins a use of the window of a tab, which is created if there is none.
    ///
    /// - Parameters:
    ///   - tab: The tab; `nil` for a page without script.
    ///   - page: The number of the window that the tab's page shows, which the tab adopts if it has none.
    /// - Returns: The window, whether the tab uses it for the first time, and the windows to close; `nil` if all are in
    ///   use.
    mutating func enter(
        _ browser: String, tab: String?, page: Int? = nil, at now: Deadline, make: (_ number: Int) -> Window
    ) -> (entry: Entry, isFirst: Bool, closed: [Window])? {
        if let index = entries.firstIndex(where: { $0.browser == browser && $0.tab == tab }) {
            entries[index].uses += 1
            let entry = entries[index]
            // The page was shown by the window without a tab, which is no longer needed.
            guard tab != nil, let page, page != entry.number,
                let other = entries.firstIndex(where: { $0.number == page && $0.isIdle(of: browser) })
            else { return (entry, false, []) }
            return (entry, false, [entries.remove(at: other).window])
        }
        if let index = entries.firstIndex(where: { $0.number == page && $0.browser == browser && $0.tab == nil }) {
            entries[index].tab = tab
            entries[index].uses += 1
            return (entries[index], true, [])
        }
        var closed: [Window] = []
        if entries.count(where: { $0.browser == browser }) >= limitOfBrowser {
            guard let window = removeIdle(where: { $0.browser == browser }) else { return nil }
            closed.append(window)
        }
        if entries.count >= limit {
            guard let window = removeIdle(where: { _ in true }) else { return nil }
            closed.append(window)
        }
        last += 1
        let entry = Entry(number: last, browser: browser, tab: tab, window: make(last), lastUse: now)
        entries.append(entry)
        return (entry, true, closed)
    }

    /// Ends a use of a window.
    mutating func leave(_ number: Int, at now: Deadline) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        entries[index].uses -= 1
        entries[index].lastUse = now
    }

    /// The time at which a window may have been unused for too long; `nil` if none is unused.
    var nextEnd: Deadline? { entries.filter { $0.uses == 0 }.map { $0.lastUse + patience }.min() }

    /// Removes the windows that have been unused for too long.
    mutating func removeUnused(at now: Deadline) -> [Window] {
        let unused = entries.filter { $0.uses == 0 && $0.lastUse + patience <= now }
        entries.removeAll { entry in unused.contains { $0.number == entry.number } }
        return unused.map(\.window)
    }

    mutating func remove(_ number: Int) { entries.removeAll { $0.number == number } }

    mutating func removeAll() -> [Window] {
        defer { entries = [] }
        return entries.map(\.window)
    }

    /// Removes the window that was unused for longest.
    private mutating func removeIdle(where isWanted: (Entry) -> Bool) -> Window? {
        let index = entries.indices.filter { entries[$0].uses == 0 && isWanted(entries[$0]) }
            .min { entries[$0].lastUse < entries[$1].lastUse }
        return index.map { entries.remove(at: $0).window }
    }
}

extension WindowTable: Sendable where Window: Sendable {}
extension WindowTable.Entry: Sendable where Window: Sendable {}

extension WindowTable.Entry {
    /// Returns whether the window belongs to the browser's pages without script, and is unused.
    fileprivate func isIdle(of browser: String) -> Bool { self.browser == browser && tab == nil && uses == 0 }
}
#endif
