#if Engines
import Backplane
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `The windows of browsers` {
    private static let start = Deadline(nanoseconds: 1)
    private let windows = Windows()

    /// A table whose windows are their own numbers.
    private final class Windows {
        struct Use {
            var window: Int
            var isFirst: Bool
            var closed: [Int]
        }
        var table = WindowTable<Int>(limit: 4, limitOfBrowser: 3, patience: .seconds(60))

        /// Begins a use at a second, and ends it unless it goes on.
        func use(
            _ browser: String, _ tab: String? = nil, page: Int? = nil, at second: Int = 0, goesOn: Bool = false
        ) -> Use? {
            let now = start + .seconds(second)
            guard let entered = table.enter(browser, tab: tab, page: page, at: now, make: { $0 }) else { return nil }
            if !goesOn { table.leave(entered.entry.number, at: now) }
            return Use(window: entered.entry.window, isFirst: entered.isFirst, closed: entered.closed)
        }
    }

    @Test func `pages without script share the window of their browser`() {
        let first = windows.use("a"), again = windows.use("a"), other = windows.use("b")
        #expect(first?.isFirst == true)
        #expect(again?.isFirst == false)
        #expect(again?.window == first?.window)
        #expect(other?.window != first?.window)
    }

    @Test func `a tab adopts the window that its page shows, and the next page gets another one`() {
        let page = windows.use("a"), tab = windows.use("a", "one", page: page?.window), next = windows.use("a")
        #expect(tab?.window == page?.window)
        #expect(tab?.isFirst == true)
        #expect(next?.isFirst == true)
        let second = windows.use("a", "two", page: next?.window)
        #expect(second?.window == next?.window)
        #expect(windows.use("a", "one")?.window == tab?.window)
    }

    @Test func `a tab that has a window closes the one that its page was shown by`() {
        let tab = windows.use("a", "one"), page = windows.use("a")
        let back = windows.use("a", "one", page: page?.window)
        #expect(back?.window == tab?.window)
        #expect(back?.closed == [page!.window])
    }

    @Test func `a tab adopts no window of another browser or tab`() {
        let other = windows.use("b"), taken = windows.use("a", "one")
        for page in [other, taken] {
            let tab = windows.use("a", "\(page!.window)", page: page?.window)
            #expect(tab?.isFirst == true)
            #expect(tab?.closed == [])
        }
        #expect(windows.table.entries.map(\.window).contains(other!.window))
    }

    @Test func `beyond the limit the window that was unused for longest is closed`() {
        for (second, browser) in ["a", "b", "c", "d"].enumerated() { _ = windows.use(browser, at: second) }
        _ = windows.use("a", at: 9)
        let fifth = windows.use("e", at: 10)
        #expect(fifth?.closed == [2])
        #expect(windows.table.entries.map(\.browser) == ["a", "c", "d", "e"])
    }

    @Test func `if all windows are in use, there is none for another browser`() {
        for browser in ["a", "b", "c", "d"] { _ = windows.use(browser, goesOn: true) }
        #expect(windows.use("e") == nil)
        #expect(windows.use("a")?.isFirst == false)
        windows.table.leave(3, at: Self.start)
        #expect(windows.use("e")?.closed == [3])
    }

    @Test func `a browser with too many tabs closes one of its own`() {
        let other = windows.use("b")
        for (second, tab) in ["one", "two", "three"].enumerated() { _ = windows.use("a", tab, at: second + 1) }
        let fourth = windows.use("a", "four", at: 5)
        #expect(fourth?.closed == [2])
        #expect(windows.table.entries.contains { $0.window == other?.window })
        for tab in ["two", "three", "four"] { _ = windows.use("a", tab, at: 6, goesOn: true) }
        #expect(windows.use("a", "five", at: 7) == nil)
    }

    @Test func `a window that nobody uses is closed after a while`() {
        #expect(windows.table.nextEnd == nil)
        _ = windows.use("a", at: 0, goesOn: true)
        #expect(windows.table.nextEnd == nil)
        _ = windows.use("b", at: 5)
        #expect(windows.table.nextEnd == Self.start + .seconds(65))
        #expect(windows.table.removeUnused(at: Self.start + .seconds(64)) == [])
        #expect(windows.table.removeUnused(at: Self.start + .seconds(65)) == [2])
        windows.table.leave(1, at: Self.start + .seconds(100))
        #expect(windows.table.nextEnd == Self.start + .seconds(160))
        #expect(windows.table.removeUnused(at: Self.start + .seconds(160)) == [1])
        #expect(windows.table.entries.isEmpty)
    }
}
#endif
