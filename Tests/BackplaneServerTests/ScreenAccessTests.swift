#if Engines
import Backplane
import Testing

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
#endif
