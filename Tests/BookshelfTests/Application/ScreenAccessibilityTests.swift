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
    @Test(arguments: ["light", "dark"])
    func `all pages can be read and used without eyes or a mouse, and with weak eyes`(scheme: String) async throws {
        try await show(scheme) { browser in
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
            <div aria-hidden="true"><button tabindex="1">six</button></div></main></body></html>
            """
        try await WebBrowser.run { browser in
            try await browser.open("data:text/html," + page)
            let problems = try await browser.value(of: AccessibilityRules.problems, as: [String].self)
            #expect(
                Set(problems.compactMap { $0.split(separator: ": <").first }) == [
                    "contrast 3.54", "control within another", "for that leads nowhere", "heading that skips a level",
                    "hidden control", "id that is not unique", "no alternative text", "no language", "no name",
                    "no scope", "no title", "not a list", "not one body > header", "order of focus",
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
    private func show(_ scheme: String, _ body: (WebBrowser) async throws -> Void) async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run("bookshelf-screens.json", server: Bookshelf.nowhere, mocks: mocks) { shelf, _ in
            let screens = WebScreens(AppManager(shelf.host))
            let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
            let run = Task { try await server.run() }
            let settings = WebBrowser.Settings(media: ["prefers-color-scheme": scheme])
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
