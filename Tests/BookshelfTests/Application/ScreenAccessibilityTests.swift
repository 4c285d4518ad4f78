#if Engines
import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHost
import BackplaneHummingbird
import BackplaneTestKit
import TestFixtures
import Testing

/// The pages of the example in a real browser, without its server.
@Suite(.timeLimit(.minutes(5)), .nightly, .enabled(if: WebBrowser.isThere, WebBrowser.isMissing))
struct ScreenAccessibilityTests {
    @Test(arguments: [("light", 900), ("dark", 900), ("light", 375)])
    func `all pages can be read and used without eyes or a mouse, with weak eyes, and on a phone`(
        scheme: String, width: Int
    ) async throws {
        try await show(scheme, width: width) { browser in
            try await browser.wait(for: "document.body.innerText.includes('3 books')")
            try await browser.wait(for: "document.querySelectorAll('img').length === 3")
            try await expectNoProblems("catalogue", browser)
            try await browser.click("input[type=search]")
            try await browser.type("whale")
            try await browser.wait(for: "document.querySelector('input[type=search]').defaultValue === 'whale'")
            try await browser.wait(for: "!document.querySelector('progress')")
            try await expectNoProblems("search", browser)
            try await browser.click(".list a")
            try await browser.wait(for: "document.title === 'The Cruise of the Cachalot'")
            try await expectNoProblems("book", browser)
            try await browser.click("button[value$='/borrow']")
            try await browser.wait(for: "document.body.innerText.includes('due in')")
            try await expectNoProblems("loans", browser)
            try await browser.click("button[value$='/return']")
            try await browser.wait(for: "document.querySelector('#modal dialog')")
            try await expectNoProblems("question", browser)
        }
    }

    @Test func `the rules find what is wrong`() async throws {
        let page = """
            <html><body><p>outside</p><main><h1>Books</h1><h3>Whales</h3><a href="/x"></a><img src="y"><input>
            <button><a href="/z">z</a></button><p id="a">one</p><p id="a" style="color: rgb(136, 136, 136)">two</p>
            <label for="b">three</label><table><tr><th>four</th></tr></table><ul><p>five</p></ul>
            <div aria-hidden="true"><button tabindex="1">six</button></div>
            <ul role="button"></ul><p aria-label="seven" aria-checked="true">seven</p>
            <button style="width: 10px; height: 10px">8</button><button style="width: 10px; height: 10px">9</button>
            <div style="height: 20px; overflow: auto">ten<br>eleven<br>twelve</div></main></body></html>
            """
        try await WebBrowser.run { browser in
            try await browser.open("data:text/html," + page)
            let problems = try await browser.value(of: AccessibilityRules.problems, as: [String].self)
            #expect(
                Set(problems.compactMap { $0.split(separator: ": <").first }) == [
                    "attribute of another role", "contrast 3.54", "control within another", "for that leads nowhere",
                    "heading that skips a level", "hidden control", "id that is not unique", "no alternative text",
                    "no language", "no name", "no scope", "no title", "no way to scroll", "not a list",
                    "not one body > header", "order of focus", "role of another element", "small target",
                    "text outside landmarks",
                ])
        }
    }

    private func expectNoProblems(
        _ page: String, _ browser: WebBrowser, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let problems = try await browser.value(of: AccessibilityRules.problems, as: [String].self)
        #expect(problems == [], "\(page)", sourceLocation: location)
    }

    /// Shows the example in a browser with a light or dark appearance.
    private func show(_ scheme: String, width: Int, _ body: (WebBrowser) async throws -> Void) async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run("bookshelf-screens.json", server: Bookshelf.nowhere, mocks: mocks) { shelf, _ in
            let screens = WebScreens(AppManager(shelf.host))
            let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
            let run = Task { try await server.run() }
            let settings = WebBrowser.Settings(
                width: width, height: 700, media: ["prefers-color-scheme": scheme])
            do {
                let address = try await server.listening()
                try await WebBrowser.run(settings) { browser in
                    try await browser.open(screens.signInAddress(at: "http://\(address)"))
                    try await body(browser)
                }
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
            try await run.value
        }
    }
}
#endif
