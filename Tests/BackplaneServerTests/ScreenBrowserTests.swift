#if Engines
import Backplane
import BackplaneHummingbird
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)), .enabled(if: WebBrowser.isThere, WebBrowser.isMissing))
struct `Screens in a real browser` {
    @Test func `a search is shown while it is typed, a row has its button, and the browser goes back`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser
            try await browser.click(field("search"))
            try await browser.type("whale")
            try await browser.wait(for: "\(find(view("found"))).textContent === 'Found: whale'")
            try await browser.click(button("books/book-7/borrow"))
            let press = try await shown.shelf.events.first { $0.id == "borrow" }
            #expect(press.row == "book-7")
            try await browser.click(link("page"))
            try await browser.wait(for: "document.title === 'Page 1'")
            try await browser.goBack()
            try await browser.wait(for: "document.title === 'Shelf'")
            #expect(try await browser.value(of: "\(find(field("search"))).value") == "whale")
        }
    }
}

@Suite(.timeLimit(.minutes(5)), .nightly, .enabled(if: WebBrowser.isThere, WebBrowser.isMissing))
struct `What a person does with screens in a real browser` {
    // MARK: Fields

    @Test func `what is typed while a handler is slow stays, and arrives whole`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, search = find(field("search"))
            // How often the script sets the value of the field.
            let counting = """
                (() => {
                    const field = \(search), own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
                    window.sets = 0;
                    Object.defineProperty(field, "value", {
                        get() { return own.get.call(this); },
                        set(text) { window.sets += 1; own.set.call(this, text); },
                    });
                    return true;
                })()
                """
            #expect(try await browser.value(of: counting))
            shown.shelf.gate.close()
            try await browser.click(field("search"))
            try await browser.type("wh")
            try await shown.shelf.gate.arrivals()
            try await browser.type("ale")
            #expect(try await browser.value(of: "\(search).value") == "whale")
            shown.shelf.gate.open()
            try await browser.wait(for: "\(find(view("found"))).textContent === 'Found: whale'")
            #expect(
                try await browser.value(of: "[\(search).value, \(search).selectionEnd, sets].join()") == "whale,5,0")
            #expect(try await browser.value(of: "document.activeElement === \(search)"))
            #expect(shown.shelf.events.all.map(\.value) == ["w", "whale"])
        }
    }

    @Test func `the return key submits the whole text, also of a field whose changes are under way`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, events = shown.shelf.events
            try await browser.click(field("note"))
            try await browser.type("buy <ink>" + WebBrowser.Key.enter)
            let note = try await events.first { $0.kind == .submit }
            #expect(note.id == "note" && note.value == "buy <ink>" && note.values["note"] == "buy <ink>")
            shown.shelf.gate.close()
            try await browser.click(field("search"))
            try await browser.type("whale" + WebBrowser.Key.enter)
            try await shown.shelf.gate.arrivals()
            shown.shelf.gate.open()
            let search = try await events.first { $0.kind == .submit && $0.id == "search" }
            #expect(search.value == "whale")
            let changes = events.all.filter { $0.kind == .change && $0.id == "search" }
            #expect(changes.last?.value == "whale")
        }
    }

    // MARK: Patches

    @Test func `focus, caret and scroll position stay while a list changes`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, note = find(field("note"))
            try await browser.click(field("note"))
            try await browser.type("abcdef" + WebBrowser.Key.left + WebBrowser.Key.left)
            #expect(try await browser.value(of: "(scrollTo(0, 300), scrollY)") == 300)
            shown.shelf.change { books in
                books.removeLast(10)
                books.swapAt(30, 40)
                books.append("book-99")
            }
            try await browser.wait(for: find(view("books/book-99")))
            let state = "[document.activeElement === \(note), \(note).value, \(note).selectionStart, scrollY]"
            #expect(try await browser.value(of: "\(state).join()") == "true,abcdef,4,300")
            // A row that moves keeps the focus of its button.
            try await browser.click(button("books/book-30/borrow"))
            shown.shelf.change { $0.swapAt(0, 29) }
            try await browser.wait(for: "\(find("ul > li")).id.endsWith('/books/book-30')")
            let hasFocus = "document.activeElement === \(find(button("books/book-30/borrow")))"
            #expect(try await browser.value(of: hasFocus))
        }
    }

    @Test func `a swap changes the open page, which is not loaded again`() async throws {
        try await showHarbour("/screens/harbour.counter") { browser, harbour in
            for count in 1...2 {
                try await browser.click(button("press"))
                try await browser.wait(for: "document.body.innerText.includes('Pressed \(count) times')")
            }
            #expect(try await browser.value(of: "(window.isSame = true)"))
            try await harbour.swap(to: 2)
            try await browser.wait(for: "\(find("h1")).textContent === 'Counter of the second edition'")
            #expect(try await browser.value(of: "document.body.innerText.includes('Pressed 2 times')"))
            #expect(try await browser.value(of: "document.activeElement === \(find(button("press")))"))
            try await browser.click(button("press"))
            try await browser.wait(for: "document.body.innerText.includes('Pressed 3 times')")
            #expect(try await browser.value(of: "window.isSame === true"))
            let complaints = try await browser.complaints()
            #expect(complaints == [])
        }
    }

    // MARK: Addresses and tabs

    @Test func `the browser goes back and forward through the screens, and loads one again as it is`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser
            func wait(for title: String) async throws {
                try await browser.wait(for: "document.title === '\(title)'")
                let path = title == "Shelf" ? "/" : "/screens/page?input={\"number\":\(title.suffix(1))}"
                #expect(try await browser.value(of: "decodeURIComponent(location.pathname + location.search)") == path)
            }
            #expect(try await browser.value(of: "(window.isSame = true)"))
            try await browser.click(field("search"))
            try await browser.type("whale")
            try await browser.click(link("page"))
            try await wait(for: "Page 1")
            try await browser.click(".body a")
            try await wait(for: "Page 2")
            try await browser.goBack()
            try await wait(for: "Page 1")
            try await browser.goBack()
            try await wait(for: "Shelf")
            try await browser.goForward()
            try await wait(for: "Page 1")
            #expect(try await browser.value(of: "window.isSame === true"))
            try await browser.reload()
            try await wait(for: "Page 1")
            #expect(try await browser.value(of: "window.isSame !== true"))
            try await browser.goBack()
            try await wait(for: "Shelf")
            #expect(try await browser.value(of: "\(find(field("search"))).value") == "whale")
            try await browser.reload()
            try await wait(for: "Shelf")
            #expect(try await browser.value(of: "\(find(field("search"))).value") == "whale")
            #expect(shown.shelf.agents.all.count == 1)
        }
    }

    @Test func `one waits for no screen that is being assembled`() async throws {
        try await ShownShelf.run(hasTabs: true) { shown in
            let browser = shown.browser, assembly = shown.shelf.assembly
            var count = 0
            /// Follows the link to a screen that is not assembled.
            func follow() async throws {
                try await browser.wait(for: "document.title === 'Book'")
                #expect(try await browser.value(of: "(window.followed = \(find(link("slow"))), true)"))
                try await browser.click(link("slow"))
                count += 1
                try await assembly.arrivals(count)
            }
            /// Waits until the page no longer waits for that screen.
            func waitForEnd() async throws { try await browser.wait(for: "!followed.hasAttribute('aria-busy')") }
            try await browser.click(link("book"))
            // The way back of the page ends only the wait.
            try await follow()
            try await browser.click("#screen .back")
            try await waitForEnd()
            try await browser.wait(for: "!\(find("#screen .back")).hasAttribute('aria-busy')")
            #expect(try await browser.value(of: "document.title === 'Book' && !\(find("#alert dialog"))"))
            // The button of the browser.
            try await follow()
            try await browser.goBack()
            try await browser.wait(for: "document.title === 'Shelf'")
            try await waitForEnd()
            // A tab.
            try await browser.click(link("book"))
            try await follow()
            try await browser.click("a[href='/tabs/1']")
            try await browser.wait(for: "document.title === 'Page 7'")
            try await waitForEnd()
            try await browser.click("a[href='/tabs/0']")
            // The page is loaded again.
            try await follow()
            try await browser.reload()
            try await browser.waitForConnection()
            #expect(try await browser.value(of: "document.title") == "Book")
            assembly.open()
        }
    }

    // MARK: Buttons and messages

    @Test func `a button is busy while its handler runs, and a second press changes nothing`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, isBusy = "\(find(button("wait"))).getAttribute('aria-busy') === 'true'"
            shown.shelf.gate.close()
            try await browser.click(button("wait"))
            try await shown.shelf.gate.arrivals()
            #expect(try await browser.value(of: isBusy))
            try await browser.click(button("wait"))
            try await browser.click(button("books/book-1/borrow"))
            _ = try await shown.shelf.events.first { $0.id == "borrow" }
            shown.shelf.gate.open()
            try await browser.wait(for: "!(\(isBusy))")
            #expect(shown.shelf.events.all.map(\.id) == ["wait", "borrow"])
            try await browser.click(button("wait"))
            try await shown.shelf.gate.arrivals(2)
        }
    }

    @Test(arguments: [true, false])
    func `a button is busy from its first load to its last, and changes within 0.3 s if it may move`(
        isReduced: Bool
    ) async throws {
        let media = ["prefers-reduced-motion": isReduced ? "reduce" : "no-preference"]
        try await ShownShelf.run(WebBrowser.Settings(media: media)) { shown in
            let browser = shown.browser, shelf = shown.shelf, reserve = find(button("reserve"))
            let isBusy = "\(reserve).getAttribute('aria-busy') === 'true'"
            let durations = """
                [getComputedStyle(\(reserve).firstChild), getComputedStyle(\(reserve), "::after")]
                    .map(style => style.transitionDuration).join()
                """
            try await browser.openScreen(at: shown.address + "/screens/book")
            #expect(try await browser.value(of: durations) == (isReduced ? "0s,0s" : "0.3s,0.3s"))
            shelf.gate.close()
            shelf.secondGate.close()
            try await browser.click(button("reserve"))
            try await shelf.gate.arrivals()
            try await shelf.secondGate.arrivals()
            try await browser.wait(for: "\(isBusy) && \(reserve).getAttribute('aria-disabled') === 'true'")
            shelf.gate.open()
            try await browser.wait(for: "\(find(view("first"))).textContent === 'First load: done'")
            #expect(try await browser.value(of: isBusy))
            shelf.secondGate.open()
            try await browser.wait(for: "!(\(isBusy)) && !\(reserve).hasAttribute('aria-disabled')")
        }
    }

    @Test func `a modal screen has the focus until Escape closes it`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser
            try await browser.click(link("question"))
            try await browser.wait(for: "\(find("#modal dialog"))?.contains(document.activeElement)")
            #expect(try await browser.value(of: "\(find("#screen")).inert && \(find("#bar")).inert"))
            try await browser.type(WebBrowser.Key.escape)
            try await browser.wait(for: "!\(find("#modal dialog"))")
            let isBack = "!\(find("#screen")).inert && document.activeElement === \(find(link("question")))"
            #expect(try await browser.value(of: isBack))
            try await browser.click(link("question"))
            try await browser.click(button("yes"))
            try await browser.wait(for: "!\(find("#modal dialog"))")
            #expect(try await browser.value(of: "location.pathname") == "/")
        }
    }

    @Test func `an error, and a screen that is not there, are alerts, which a key removes`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser
            for (control, text, key) in [
                (button("fail"), "the shelf has <b>fallen</b>", WebBrowser.Key.escape),
                (link("nothing"), "`nothing` cannot be shown", WebBrowser.Key.enter),
            ] {
                try await browser.click(control)
                try await browser.wait(for: "\(find("#alert dialog"))?.contains(document.activeElement)")
                #expect(try await browser.value(of: "\(find("#alert")).textContent.includes('\(text)')"))
                #expect(try await browser.value(of: "\(find("#screen")).inert"))
                try await browser.type(key)
                try await browser.wait(for: "!\(find("#alert dialog"))")
                #expect(try await browser.value(of: "document.activeElement === \(find(control))"))
            }
        }
    }

    @Test func `what an overlay covers cannot be used until the load that it repeats succeeds`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, isCovered = "\(find(button("below"))).closest('[inert]') !== null"
            shown.shelf.isDown = true
            try await browser.openScreen(at: shown.address + "/screens/load")
            try await browser.wait(for: find(button("load.retry")))
            #expect(try await browser.value(of: isCovered))
            // The rectangle of the first child contains those of the others.
            let covers = """
                (() => {
                    const [cover, ...covered] = [...document.querySelector(".overlay").children]
                        .map(element => element.getBoundingClientRect());
                    return covered.length === 2 && covered.every(rect =>
                        rect.height > 0 && rect.left >= cover.left && rect.right <= cover.right
                            && rect.top >= cover.top && rect.bottom <= cover.bottom);
                })()
                """
            for width: Int64 in [900, 375, 640] {
                try await browser.resize(width: width, height: 700)
                try await browser.wait(for: "innerWidth === \(width)")
                #expect(try await browser.value(of: covers), "\(width)")
            }
            try await browser.click(button("load.retry"))
            _ = try await shown.shelf.events.first { $0.id == "load.retry" }
            try await browser.wait(for: "\(find(button("load.retry"))) && \(isCovered)")
            shown.shelf.isDown = false
            try await browser.click(button("load.retry"))
            try await browser.wait(for: "!\(find(button("load.retry"))) && !(\(isCovered))")
            try await browser.click(button("below"))
            _ = try await shown.shelf.events.first { $0.id == "below" }
        }
    }

    // MARK: Images

    @Test func `a row that is used again never shows the former image, and the bar shows a load`() async throws {
        try await ShownShelf.run { shown in
            let browser = shown.browser, gate = TestGate(), image = find(".list img"), bar = find("#activity span")
            func picture(width: Int) -> TestHTTP.Answer {
                let text = "<svg xmlns='http://www.w3.org/2000/svg' width='\(width)' height='30'/>"
                return .status(200, headers: ["Content-Type": "image/svg+xml"], text: text)
            }
            shown.host.http.on("GET", "http://images.test/1", picture(width: 10))
            shown.host.http.on("GET", "http://images.test/2", picture(width: 20).held(at: gate))
            shown.shelf.cover = "http://images.test/1"
            try await browser.openScreen(at: shown.address + "/screens/book")
            try await browser.wait(for: "\(image).naturalWidth === 10")
            #expect(try await browser.value(of: "(window.former = \(image).src, \(bar) === null)"))
            shown.shelf.cover = "http://images.test/2"
            try await browser.wait(for: "\(image).src !== former")
            try await gate.arrivals()
            #expect(try await browser.value(of: "\(image).naturalWidth") == 0)
            // A short load is not shown.
            try await shown.host.clock.expire(.milliseconds(100))
            try await browser.wait(for: bar)
            gate.open()
            try await browser.wait(for: "\(image).naturalWidth === 20 && !\(bar)")
        }
    }

    // MARK: Content

    @Test func `markup and scripts in every text stay text`() async throws {
        let markup = #"<script>alert("x")</script><b id='y'>&amp;</b>"#
        try await showHarbour("/screens/harbour.markup") { browser, _ in
            try await browser.wait(for: "document.title === \(quoted(markup))")
            #expect(try await browser.value(of: "\(find("h1")).textContent === \(quoted(markup))"))
            let added = "script:not([src='/screens.js']), b, [onerror], [onclick], [href^='javascript']"
            #expect(try await browser.value(of: "document.querySelectorAll(\"\(added)\").length") == 0)
            let placeholder = "document.querySelector('input[placeholder]').placeholder === \(quoted(markup))"
            #expect(try await browser.value(of: placeholder))
            // The host has no way to the image's server.
            let complaints = try await browser.complaints().filter { !$0.contains("/image?key=") }
            #expect(complaints == [])
        }
    }

    // MARK: Appearance

    @Test(arguments: [true, false])
    func `nothing moves for a person who has turned motion off`(isReduced: Bool) async throws {
        let media = ["prefers-reduced-motion": isReduced ? "reduce" : "no-preference"]
        try await ShownShelf.run(WebBrowser.Settings(media: media)) { shown in
            let browser = shown.browser
            let counting = """
                (() => {
                    const start = document.startViewTransition.bind(document);
                    window.transitions = 0;
                    document.startViewTransition = change => { window.transitions += 1; return start(change); };
                    return true;
                })()
                """
            #expect(try await browser.value(of: counting))
            shown.shelf.gate.close()
            try await browser.click(button("wait"))
            try await shown.shelf.gate.arrivals()
            let animation = "getComputedStyle(\(find(button("wait"))), '::after').animationName"
            #expect(try await browser.value(of: animation) == (isReduced ? "none" : "turn"))
            shown.shelf.gate.open()
            try await browser.click(link("page"))
            try await browser.wait(for: "document.title === 'Page 1'")
            #expect(try await browser.value(of: "window.transitions") == (isReduced ? 0 : 1))
        }
    }

    @Test func `on a phone nothing is wider than the screen`() async throws {
        let wide = """
            [...document.querySelectorAll("*")]
                .filter(element => element.getBoundingClientRect().right > innerWidth)
                .map(element => element.outerHTML.slice(0, 100))
            """
        let settings = WebBrowser.Settings(width: 375, height: 667)
        try await ShownShelf.run(settings) { shown in
            let browser = shown.browser
            #expect(try await browser.value(of: "innerWidth") == 375)
            shown.shelf.isDown = true
            for path in ["", "/screens/page?input={\"number\":1}", "/screens/load", "/screens/question"] {
                try await browser.openScreen(at: shown.address + path)
                let elements = try await browser.value(of: wide, as: [String].self)
                #expect(elements == [], "\(path)")
            }
        }
        try await showHarbour("/screens/harbour.markup", settings) { browser, _ in
            let elements = try await browser.value(of: wide, as: [String].self)
            #expect(elements == [])
        }
    }

    // MARK: Harbour

    /// Shows a screen of the fixture plugin in a browser.
    private func showHarbour(
        _ path: String, _ settings: WebBrowser.Settings = WebBrowser.Settings(),
        _ body: (WebBrowser, Harbour) async throws -> Void
    ) async throws {
        try await Harbour.run { harbour in
            try await WebBrowser.run(settings) { browser in
                let address = "http://127.0.0.1:\(harbour.port)"
                try await browser.openScreen(at: harbour.screens.signInAddress(at: address))
                try await browser.openScreen(at: address + path)
                try await body(browser, harbour)
            }
        }
    }
}

// MARK: Elements

// Selectors of the elements of views, by the ends of their keys.

private func view(_ key: String) -> String { "[id$='/\(key)']" }
private func link(_ key: String) -> String { "a[id$='/\(key)']" }
private func field(_ key: String) -> String { "input[name$='/\(key)']" }
private func button(_ key: String) -> String { "button[value$='/\(key)']" }

/// Returns the expression in JavaScript for the first element of a selector.
private func find(_ selector: String) -> String { "document.querySelector(\"\(selector)\")" }

/// Returns a text as an expression in JavaScript.
private func quoted(_ text: String) -> String { "`\(text)`" }
#endif
