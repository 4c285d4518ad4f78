#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `Screens with a script` {
    // MARK: Patches

    @Test func `what a person does changes the page by its parts`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            let events = try await browser.changes(of: page)
            let answer = try await browser.post(
                page, ["kind": "press", "id": page.id("add")], values: [page.id("note"): "Buy ink", "other": "x"])
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(shown.desk.events.all == [ViewEvent(.press, "add", values: ["note": "Buy ink"])])
            let message = try await events.first { $0.html.contains("Buy ink") }
            #expect(message.content == nil && message.address == nil && message.moves == false)
            #expect(message.patches?.map(\.kind) == ["insert"])
            #expect(message.patches?.first?.id == page.id("notes/Buy%20ink"))
            // The script knows which drawing it waits for.
            let revision = try #require(answer["x-screen-revision"].flatMap { Int($0) })
            #expect(page.revision < revision && page.revision < message.revision)
            let change = ["kind": "change", "id": page.id("query"), "value": "in"]
            #expect(try await browser.post(page, change).status == 204)
            try await events.first { $0.html.contains("value=\"in\"") }
            let submit = ["kind": "submit", "id": page.id("query"), "value": "ink"]
            #expect(try await browser.post(page, submit).status == 204)
            #expect(shown.desk.events.all.last == ViewEvent(.submit, "query", value: "ink"))
            let remove = ["kind": "press", "id": page.id("notes/Buy%20ink/remove")]
            #expect(try await browser.post(page, remove).status == 204)
            let removal = try await events.first { $0.patches?.contains { $0.kind == "remove" } == true }
            #expect(removal.patches?.map(\.id) == [page.id("notes/Buy%20ink")])
        }
    }

    @Test func `a redraw that nobody has asked for reaches the page`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.page(), events = try await shown.browser.changes(of: page)
            shown.desk.remark.withLock { $0 = "<b>&" }
            try #require(shown.desk.agents.all.first).redraw()
            let message = try await events.first { !$0.html.isEmpty }
            #expect(message.patches?.map(\.id) == [page.id("remark")])
            #expect(message.html.contains("&lt;b&gt;&amp;") && !message.html.contains("<b>"))
        }
    }

    @Test func `a page whose drawing is older receives the content`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            _ = try await browser.submit(page, [page.id("note"): "Buy ink", "press": page.id("add")])
            let message = try #require(try await browser.events(of: page).next())
            #expect(message.content?.contains("Buy ink") == true && message.title == "Desk")
            #expect(message.patches == nil && message.address == "/")
            #expect(message.revision > page.revision)
        }
    }

    @Test func `if the changes are longer than the content, the content is sent`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page(), events = try await browser.changes(of: page)
            #expect(try await browser.post(page, ["kind": "press", "id": page.id("fill")]).status == 204)
            let all = try await events.first { $0.html.contains("note 499") }
            #expect(all.content != nil && all.patches == nil && all.title == "Desk" && all.address == nil)
            #expect(
                try await browser.post(page, ["kind": "press", "id": page.id("notes/note%207/remove")]).status == 204)
            let one = try await events.first { $0.patches?.isEmpty == false }
            #expect(one.patches?.map(\.kind) == ["remove"] && one.content == nil)
        }
    }

    @Test func `an event goes to the screen even if its handler does not end, and others are handled meanwhile`()
        async throws
    {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            _ = try await browser.changes(of: page)
            async let slow = browser.post(page, ["kind": "press", "id": page.id("wait")])
            try await shown.desk.gate.arrivals()
            #expect(try await browser.post(page, ["kind": "press", "id": page.id("add")]).status == 204)
            // A handler that takes longer than the limit does not hold up the browser.
            try await shown.host.clock.expire(.seconds(30))
            let status = try await slow.status
            #expect(status == 204)
            shown.desk.gate.open()
        }
    }

    // MARK: Addresses

    @Test func `the address follows the front screen, and the person's way through it`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page(),
                first = "/screens/page?input=%7B%22number%22%3A1%7D"
            let events = try await browser.changes(of: page)
            func follow(_ address: String, id: String = "") async throws -> Int {
                try await browser.post(page, ["kind": "link", "id": id, "address": address]).status
            }
            #expect(try await follow(first, id: page.id("link")) == 204)
            let shownPage = try await events.first { $0.address != nil }
            #expect(shownPage.address == first && shownPage.moves == true)
            #expect(shownPage.patches?.contains { $0.kind == "title" && $0.html == "Page 1" } == true)
            #expect(shownPage.html.contains("This is page 1"))
            // Back in the history of the browser, forward, and back with the button of the page.
            #expect(try await follow("/") == 204)
            #expect(try await events.first { $0.address != nil }.address == "/")
            #expect(try await follow(first) == 204)
            #expect(try await events.first { $0.address != nil }.address == first)
            #expect(try await follow("/back") == 204)
            #expect(try await events.first { $0.address != nil }.address == "/")
            for wrong in [
                "", "/nowhere", "http://evil.example/", "/screens/nothing", "/screens/page", "//evil.example",
            ] {
                #expect(try await follow(wrong) == 404, "\(wrong)")
            }
        }
    }

    @Test func `a link to a screen that is not assembled is an alert, which the person removes`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page(), events = try await browser.changes(of: page)
            let link = ["kind": "link", "id": page.id("link"), "address": "/screens/nothing"]
            #expect(try await browser.post(page, link).status == 204)
            let alert = try await events.first { $0.html.contains("alertdialog") }
            #expect(alert.patches?.contains { $0.kind == "cover" && $0.id == "screen" } == true)
            #expect(try await browser.post(page, ["kind": "alert"]).status == 204)
            let free = try await events.first { $0.patches?.contains { $0.kind == "uncover" } == true }
            #expect(free.patches?.contains { $0.kind == "fill" && $0.id == "alert" && $0.html == "" } == true)
        }
    }

    @Test func `what the person does ends the wait for a screen that is being assembled`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = try ShelfApp(of: host.host, hasTabs: true), assembly = app.shelf.assembly
            try await WebScreens.running(app) { screens, port, _ in
                let browser = ScreenBrowser(port: port)
                try await browser.signIn(to: screens)
                let page = try await browser.page(), events = try await browser.changes(of: page)
                var count = 0
                // A link of the screen, and an address to which the browser has gone back.
                for id in [page.id("slow"), ""] {
                    for (way, title) in [("/back", nil), ("/tabs/1", "Page 7"), ("/", "Shelf")] as [(String, String?)] {
                        let link = ["kind": "link", "id": id, "address": "/screens/slow"]
                        async let slow = browser.post(page, link)
                        count += 1
                        try await assembly.arrivals(count)
                        #expect(try await browser.post(page, ["kind": "link", "id": "", "address": way]).status == 204)
                        let status = try await slow.status
                        #expect(status == 204, "\(way)")
                        guard let title else { continue }
                        try await events.first { message in
                            message.title == title
                                || message.patches?.contains { $0.kind == "title" && $0.html == title } == true
                        }
                    }
                }
                assembly.open()
            }
        }
    }

    // MARK: Tabs

    @Test func `each tab has a window of its own, which it keeps when it is loaded again`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let first = try await browser.page(), firstEvents = try await browser.changes(of: first, tab: "a")
            let second = try await browser.page()
            #expect(second.window != first.window && second.screen != first.screen)
            let secondEvents = try await browser.changes(of: second, tab: "b")
            let link = ["kind": "link", "id": "", "address": address]
            #expect(try await browser.post(first, tab: "a", link).status == 204)
            try await firstEvents.first { $0.address == address }
            #expect(
                try await browser.post(second, tab: "b", ["kind": "press", "id": second.id("add")]).status == 204)
            let message = try await secondEvents.first { $0.patches?.isEmpty == false }
            #expect(message.address == nil)
            // Loaded again, a page names its tab in a cookie; the browser shows the same screen.
            let again = try await browser.tab("a", of: first).page(address)
            #expect(again.window == first.window && again.text.contains("This is page 1"))
            // Without the cookie, the page of another window is replaced by that of the tab.
            let other = try await browser.page(), events = try await browser.events(of: other, tab: "a", at: address)
            #expect(other.window != first.window)
            let content = try #require(try await events.next())
            #expect(content.content?.contains("This is page 1") == true && content.address == address)
            withExtendedLifetime((firstEvents, secondEvents)) {}
        }
    }

    @Test func `of two pages that share a window, each shows its own address with a script`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let first = try await browser.page(), second = try await browser.page(address)
            #expect(first.window == second.window)
            let events = try await browser.events(of: first, tab: "a")
            let content = try #require(try await events.next())
            #expect(content.address == "/" && content.title == "Desk")
            let others = try await browser.events(of: second, tab: "b", at: address)
            let other = try #require(try await others.next())
            #expect(other.address == address && other.title == "Page 1")
        }
    }

    @Test func `a window that moves before the script of its page begins stays where it is`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.page(), address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let agent = try #require(shown.desk.agents.all.first)
            try await agent.performSegue(to: "page", data: ["number": 1])
            let content = try #require(try await shown.browser.events(of: page).next())
            #expect(content.address == address && content.title == "Page 1")
        }
    }

    @Test func `a tab whose window is gone shows its address in another one`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            let press = ["kind": "press", "id": page.id("add")]
            #expect(try await browser.post(page, tab: "c", press).status == 410)
            let address = "%2Fscreens%2Fpage%3Finput%3D%257B%2522number%2522%253A1%257D"
            let events = try await browser.events("tab=c&revision=\(page.revision)&address=\(address)")
            let message = try #require(try await events.next())
            #expect(message.content?.contains("This is page 1") == true)
            #expect(try await browser.post(page, tab: "c", press).status == 204)
            #expect(shown.desk.events.all.isEmpty)
            for query in ["", "tab=", "tab=%3C", "tab=\(String(repeating: "a", count: 65))"] {
                #expect(try await browser.get("/events?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func `a page that its tab leaves does not move the window back when its stream begins late`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let first = try await browser.page(), events = try await browser.changes(of: first)
            let tab = try browser.tab("a", of: first), second = try await tab.page(address)
            #expect(second.window == first.window)
            let late = try #require(try await browser.events(of: first, at: "/").next())
            #expect(late.address == address)
            #expect(try await tab.page(address).screen == second.screen)
            withExtendedLifetime(events) {}
        }
    }

    // MARK: Bounds

    @Test func `beyond the number of windows, the one that was unused for longest is closed`() async throws {
        try await ShownDesk.run(limit: 2) { shown in
            let second = try await shown.otherBrowser(), third = try await shown.otherBrowser()
            _ = try await shown.browser.page()
            let events = try await second.events(of: try await second.page())
            let agent = try #require(shown.desk.agents.all.first)
            let open = try await third.events(of: try await third.page())
            // The first window was closed.
            await eventually { shown.isClosed(agent) }
            let refused = try await shown.browser.get("/")
            #expect(refused.status == 503 && refused.text.contains("<h1>Too many windows</h1>"))
            #expect(try await shown.browser.get("/events?tab=a").status == 503)
            try await open.close()
            // The server learns of it when the connection ends.
            await eventually { (try? await shown.browser.get("/").status) == 200 }
            withExtendedLifetime(events) {}
        }
    }

    @Test func `a window that nobody uses is closed after half an hour, and another one shows the same address`()
        async throws
    {
        try await ShownDesk.run { shown in
            let address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let page = try await shown.browser.page(address)
            let watched = try await shown.otherBrowser(), other = try await watched.page()
            let events = try await watched.events(of: other)
            try await shown.host.clock.run(for: .seconds(1_799))
            #expect(try await shown.browser.page(address).screen == page.screen)
            try await shown.host.clock.run(for: .seconds(1_800))
            let again = try await shown.browser.page(address)
            #expect(again.screen != page.screen && again.text.contains("This is page 1"))
            // A tab that is open uses its window.
            #expect(try await watched.post(other, ["kind": "press", "id": other.id("add")]).status == 204)
            try await events.first { $0.patches?.isEmpty == false }
        }
    }

    @Test func `an idle stream has a comment every 15 seconds, and a stop of the server ends it`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            let connection = try ServerConnection(port: shown.port)
            let address = "tab=a&window=\(page.window)&revision=\(page.revision)"
            try await connection.send(browser.head("GET", "/events?\(address)"))
            _ = try await connection.wait { $0.head() }
            // A stream begins with a message, from which the script knows that there is a window.
            let first = ":\n\ndata: {\"revision\":\(page.revision)}\n\n"
            #expect(try await connection.text(to: "}\n\n") == first)
            try await shown.host.clock.expire(.seconds(15))
            #expect(try await connection.text(to: ":\n\n") == ":\n\n")
            await shown.server.stop()
            #expect(try await connection.hasEnded())
            // The windows are closed with the server.
            let agent = try #require(shown.desk.agents.all.first)
            let closed = await error { try await agent.dismiss() }
            #expect(closed?.code == .screenClosed)
        }
    }

    // MARK: Swaps

    @Test func `a swap changes an open page, and keeps its place`() async throws {
        try await Harbour.run { harbour in
            let browser = harbour.browser, page = try await browser.page("/screens/harbour.counter")
            let events = try await browser.changes(of: page, at: "/screens/harbour.counter")
            for _ in 0..<2 {
                #expect(try await browser.post(page, ["kind": "press", "id": page.id("press")]).status == 204)
            }
            try await events.first { $0.html.contains("Pressed 2 times") }
            try await harbour.swap(to: 2)
            let message = try await events.first { $0.html.contains("second edition") }
            #expect(message.content == nil && message.address == nil)
            #expect(try await browser.post(page, ["kind": "press", "id": page.id("press")]).status == 204)
            try await events.first { $0.html.contains("Pressed 3 times") }
            // A page without script shows it when it is loaded again.
            #expect(try await harbour.browser.page().text.contains("Ships of the second edition"))
        }
    }
}
#endif
