#if Engines
import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange
@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `Who may use the screens` {
    private let access = ScreenAccess()

    @Test func `a token signs one browser in, and is invalid then`() throws {
        let token = access.makeToken(), other = access.makeToken()
        #expect(token != other)
        #expect(access.redeem("") == nil)
        #expect(access.redeem(String(token.dropLast())) == nil)
        let browser = try #require(access.redeem(token))
        #expect(access.redeem(token) == nil)
        #expect(access.redeem(other) != browser)
    }

    @Test func `of many tokens that nobody uses, the oldest become invalid`() {
        let first = access.makeToken(), tokens = (0..<100).map { _ in access.makeToken() }
        #expect(access.redeem(first) == nil)
        #expect(tokens.allSatisfy { access.redeem($0) != nil })
    }

    @Test func `a cookie names its browser, and cannot be forged`() throws {
        let browser = try #require(access.redeem(access.makeToken())), cookie = access.cookie(of: browser)
        #expect(access.browser(withCookie: cookie)?.browser == browser)
        for position in cookie.indices {
            var forged = cookie
            forged.replaceSubrange(position...position, with: cookie[position] == "0" ? "1" : "0")
            #expect(access.browser(withCookie: forged)?.browser == nil)
        }
        for forged in ["", ".", "..", browser.id, "\(browser.id)..", cookie + "0", cookie + ".", ".\(cookie)"] {
            #expect(access.browser(withCookie: forged)?.browser == nil)
        }
        // The token of forms is another one.
        let time = cookie.split(separator: ".")[1]
        #expect(access.browser(withCookie: "\(browser.id).\(time).\(access.formToken(of: browser))")?.browser == nil)
    }

    @Test func `a cookie is valid for 30 days`() throws {
        let browser = try #require(access.redeem(access.makeToken())), day = 86_400.0
        let cookie = access.cookie(of: browser, at: 1_000_000)
        #expect(access.browser(withCookie: cookie, at: 1_000_000 + day)?.age == 86_400)
        #expect(access.browser(withCookie: cookie, at: 1_000_000 + 30 * day)?.browser == browser)
        #expect(access.browser(withCookie: cookie, at: 1_000_001 + 30 * day)?.browser == nil)
        // The clock was set back.
        #expect(access.browser(withCookie: cookie, at: 0)?.browser == browser)
    }

    @Test func `a cookie is that of a server with the same key`() throws {
        let key = ScreenAccess.randomBytes(ScreenAccess.keySize), before = ScreenAccess(key: key)
        let browser = try #require(before.redeem(before.makeToken())), cookie = before.cookie(of: browser)
        #expect(ScreenAccess(key: key).browser(withCookie: cookie)?.browser == browser)
        #expect(access.browser(withCookie: cookie)?.browser == nil)
    }

    @Test func `a code is that of RFC 4231`() {
        // Test case 2, whose key is as long as it likes: `what do ya want for nothing?` is the use and the browser.
        let access = ScreenAccess(key: Array("Jefe".utf8))
        #expect(
            access.code("what", ScreenAccess.Browser(id: "do ya want for nothing?"))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func `the token of forms is that of one browser`() throws {
        let one = try #require(access.redeem(access.makeToken())), two = try #require(access.redeem(access.makeToken()))
        #expect(access.isFormToken(access.formToken(of: one), of: one))
        #expect(!access.isFormToken(access.formToken(of: one), of: two))
        #expect(!access.isFormToken("", of: one))
    }

    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080",
        "192.168.1.7:80", "shelf.example.org:8080", "SHELF.example.org",
    ])
    func `a host is an address or a name that was given`(host: String) {
        #expect(ScreenAccess(names: ["Shelf.Example.org"]).isOwn(host: host))
    }

    @Test(arguments: [
        nil, "", ":8080", "example.org", "shelf.example.org.evil.example", "127.0.0.1.evil.example", "localhost.evil",
        "localhost@evil.example", "::1", "[::1", "[evil.example]", "1.2.3", "evil.example:127.0.0.1",
    ])
    func `a page of another site that leads here names its own host`(host: String?) {
        #expect(!ScreenAccess(names: ["shelf.example.org"]).isOwn(host: host))
    }

    @Test func `a request that changes something comes from a page of the server`() {
        let host = "127.0.0.1:8080"
        #expect(ScreenAccess.isOwn(origin: nil, site: nil, host: host))
        #expect(ScreenAccess.isOwn(origin: "http://127.0.0.1:8080", site: "same-origin", host: host))
        #expect(ScreenAccess.isOwn(origin: "https://127.0.0.1:8080", site: nil, host: host))
        for origin in [
            "null", "", "http://127.0.0.1", "http://127.0.0.1:80", "http://localhost:8080", "127.0.0.1:8080",
        ] {
            #expect(!ScreenAccess.isOwn(origin: origin, site: nil, host: host))
        }
        for site in ["none", "same-site", "cross-site"] {
            #expect(!ScreenAccess.isOwn(origin: nil, site: site, host: host))
        }
    }
}

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

@Suite(.timeLimit(.minutes(5)))
struct `Images of screens` {
    private static let address = "http://images.test/cover.png"
    private static let type: HTTPHeaders = ["Content-Type": "image/png"]

    @Test func `an image is loaded with the client of the host, while a screen shows it`() async throws {
        try await ShownDesk.run { shown in
            let address = Self.address, picture = "not really a picture"
            shown.host.http.on("GET", address, .status(200, headers: Self.type, text: picture))
            shown.desk.image.withLock { $0 = address }
            let page = try await shown.browser.page()
            let path = String(try #require(page.text.firstMatch(of: #/src="(/image\?key=[0-9a-z]+)"/#)).1)
            #expect(!page.text.contains("images.test"))
            let image = try await shown.browser.get(path)
            #expect(image.status == 200 && image.text == picture)
            #expect(image["content-type"] == "image/png" && image["x-content-type-options"] == "nosniff")
            #expect(image["content-security-policy"]?.hasSuffix("; sandbox") == true)
            // Neither another browser, nor an address that no screen shows.
            #expect(try await shown.otherBrowser().get(path).status == 404)
            let key = ScreenImages.key(of: "http://images.test/other.png")
            for key in [key, "", "http://images.test/cover.png"] {
                let none = try await shown.browser.get("/image?key=\(key)")
                #expect(none.status == 404 && none["content-type"] == "image/svg+xml")
            }
            _ = try await shown.browser.page("/screens/page?input=%7B%22number%22%3A1%7D")
            #expect(try await shown.browser.get(path).status == 404)
            #expect(shown.host.http.requests.count == 1)
        }
    }

    @Test func `what is no image, too large, or cannot be loaded is shown as a missing image`() async throws {
        try await ShownDesk.run { shown in
            func image(_ address: String) async throws -> ServerConnection.Answer {
                shown.desk.image.withLock { $0 = address }
                let browser = try await shown.otherBrowser()
                _ = try await browser.page()
                return try await browser.get("/image?key=\(ScreenImages.key(of: address))")
            }
            let large = String(repeating: "x", count: 5 << 20 + 1)
            let answers: [(String, TestHTTP.Answer)] = [
                ("page", .status(200, headers: ["Content-Type": "text/html"], text: "<script>")),
                ("untyped", .status(200, text: "x")), ("missing", .status(404)), ("lost", .noConnection),
                ("large", .status(200, headers: ["Content-Type": "image/png"], text: large)),
            ]
            for (name, answer) in answers {
                shown.host.http.on("GET", "http://images.test/\(name)", answer)
                let found = try await image("http://images.test/\(name)")
                #expect(found.status == 502, "\(name)")
                #expect(found["content-type"] == "image/svg+xml")
            }
            for address in ["file:///etc/passwd", "data:image/png,x", "javascript:alert(1)", "/etc/passwd", "/no.png"] {
                #expect(try await image(address).status == 404, "\(address)")
            }
            let folder = try TestFolder(), path = try folder.write(Array("a file".utf8), as: "cover.png")
            let file = try await image(path)
            #expect(file.status == 200 && file.text == "a file" && file["content-type"] == "image/png")
        }
    }

    @Test func `equal requests are one exchange, and while the image is fresh, there is none`() async throws {
        try await ShownDesk.run { shown in
            let gate = TestGate()
            var fresh = Self.type
            fresh["Cache-Control"] = "max-age=600"
            shown.host.http.on(
                "GET", Self.address, .status(200, headers: Self.type, text: "first").held(at: gate),
                .status(200, headers: fresh, text: "second"))
            let path = try await shown.showImage(Self.address)
            async let one = shown.browser.get(path)
            async let other = shown.browser.get(path)
            try await shown.host.host.network.followers(2)
            gate.open()
            let both = [try await one.text, try await other.text]
            #expect(both == ["first", "first"])
            #expect(shown.host.http.requests.count == 1)
            // The server has named no time for which the first one is fresh.
            for _ in 0..<3 { #expect(try await shown.browser.get(path).text == "second") }
            #expect(shown.host.http.requests.count == 2)
        }
    }

    @Test func `a browser asks again for an image, and receives it only if it has changed`() async throws {
        try await ShownDesk.run { shown in
            shown.host.http.on(
                "GET", Self.address, .status(200, headers: Self.type, text: "first"),
                .status(200, headers: Self.type, text: "first"), .status(200, headers: Self.type, text: "second"))
            let path = try await shown.showImage(Self.address)
            let first = try await shown.browser.get(path), tag = try #require(first["etag"])
            #expect(first.text == "first" && first["cache-control"] == "private, no-cache")
            let known = try await shown.browser.get(path, ["If-None-Match": tag])
            #expect(known.status == 304 && known.body.isEmpty && known["etag"] == tag)
            // A browser replaces the fields that it has.
            #expect(known["content-security-policy"] == first["content-security-policy"])
            #expect(known["cache-control"] == "private, no-cache")
            let second = try await shown.browser.get(path, ["If-None-Match": tag])
            #expect(second.status == 200 && second.text == "second" && second["etag"] != tag)
        }
        try await ShownDesk.run { shown in
            let folder = try TestFolder(), file = try folder.write(Array("first".utf8), as: "cover.png")
            let path = try await shown.showImage(file)
            let first = try await shown.browser.get(path), tag = try #require(first["etag"])
            #expect(first.text == "first")
            #expect(try await shown.browser.get(path, ["If-None-Match": tag]).status == 304)
            try folder.write(Array("the second".utf8), as: "cover.png")
            #expect(try await shown.browser.get(path, ["If-None-Match": tag]).text == "the second")
        }
    }

    @Test func `no browser keeps what its server lets nobody keep`() async throws {
        try await ShownDesk.run { shown in
            let headers: HTTPHeaders = ["Content-Type": "image/png", "Cache-Control": "private, no-store"]
            shown.host.http.on("GET", Self.address, .status(200, headers: headers, text: "secret"))
            let path = try await shown.showImage(Self.address)
            for _ in 0..<2 {
                let image = try await shown.browser.get(path)
                #expect(image.text == "secret" && image["cache-control"] == "no-store" && image["etag"] == nil)
            }
            #expect(shown.host.http.requests.count == 2)
        }
    }
}

extension ShownDesk {
    /// Shows an image, and returns the path at which the page has it.
    fileprivate func showImage(_ address: String) async throws -> String {
        desk.image.withLock { $0 = address }
        _ = try await browser.page()
        return "/image?key=\(ScreenImages.key(of: address))"
    }
}

extension HTTPPipeline {
    /// Waits until a number of requests follow exchanges in flight.
    fileprivate func followers(_ count: Int) async throws {
        while equal.followers != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
#endif
