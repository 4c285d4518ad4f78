#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `Pages of screens` {
    // MARK: Signing in

    @Test func `the address that was printed signs one browser in, and is invalid then`() async throws {
        try await ShownDesk.run { shown in
            let stranger = ScreenBrowser(port: shown.port), address = shown.screens.signInAddress(at: "")
            // Nothing else of the request is read.
            let malformed = ["/screens/page?input=%FF", "/?a=%FF", "/?token=" + String(repeating: "0", count: 100)]
            for path in ["/", "/screens/page", "/events?tab=a", "/image?key=a", "/?token=", "/?token=0"] + malformed {
                let refused = try await stranger.get(path)
                #expect(refused.status == 403, "\(path)")
                #expect(refused.text.contains("<h1>Not signed in</h1>"))
            }
            let post = try await stranger.post(form: [("alert", "dismiss")])
            #expect(post.status == 403)
            #expect(try await stranger.send("HEAD", address).status == 403)
            let signedIn = try await stranger.get(address)
            #expect(signedIn.status == 303 && signedIn["location"] == "/")
            let cookie = try #require(signedIn["set-cookie"])
            #expect(cookie.hasPrefix("backplane-\(shown.port)="))
            #expect(cookie.hasSuffix("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict"))
            #expect(try await stranger.get("/").status == 200)
            // Who opens the address again is signed in already, and nobody else can.
            #expect(try await stranger.get(address).status == 303)
            #expect(try await ScreenBrowser(port: shown.port).get(address).status == 403)
        }
    }

    @Test func `with its key, a server that is started again knows its browsers`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = try DeskApp(of: host.host), key = ScreenAccess.randomBytes(ScreenAccess.keySize)
            var value = ""
            try await WebScreens.running(app, key: key) { screens, port, _ in
                let browser = ScreenBrowser(port: port)
                try await browser.signIn(to: screens)
                value = try #require(browser.allCookies.values.first)
            }
            try await WebScreens.running(app, key: key) { _, port, _ async throws in
                let browser = ScreenBrowser(port: port, cookies: ["backplane-\(port)": value])
                #expect(try await browser.get("/").status == 200)
            }
            try await WebScreens.running(app) { _, port, _ async throws in
                let browser = ScreenBrowser(port: port, cookies: ["backplane-\(port)": value])
                #expect(try await browser.get("/").status == 403)
            }
        }
    }

    @Test func `a cookie is renewed every day, and is invalid after 30 days`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = try DeskApp(of: host.host), key = ScreenAccess.randomBytes(ScreenAccess.keySize)
            try await WebScreens.running(app, key: key) { _, port, _ async throws in
                let access = ScreenAccess(key: key), browser = try #require(access.redeem(access.makeToken()))
                func answer(days: Double) async throws -> ServerConnection.Answer {
                    let value = access.cookie(of: browser, at: Double.secondsSince1970 - days * 86_400)
                    return try await ScreenBrowser(port: port, cookies: ["backplane-\(port)": value]).get("/")
                }
                #expect(try await answer(days: 0)["set-cookie"] == nil)
                let renewed = try await answer(days: 2), cookie = try #require(renewed["set-cookie"])
                #expect(renewed.status == 200)
                let value = cookie.split(separator: ";")[0].split(separator: "=")[1]
                #expect(access.browser(withCookie: value)?.browser == browser)
                #expect((access.browser(withCookie: value)?.age ?? .max) < 86_400)
                #expect(try await answer(days: 31).status == 403)
            }
        }
    }

    @Test func `a cookie counts beside others of its name, which another server may have given`() async throws {
        try await ShownDesk.run { shown in
            let (name, value) = try #require(shown.browser.allCookies.first)
            let stranger = ScreenBrowser(port: shown.port)
            #expect(try await stranger.get("/", ["Cookie": "a=b; \(name)=x.1.y;\(name)=\(value); c"]).status == 200)
            #expect(try await stranger.get("/", ["Cookie": "\(name)=x.1.y; \(name)2=\(value)"]).status == 403)
        }
    }

    @Test func `behind a proxy with TLS, the cookie is sent over TLS only`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            try await WebScreens.running(try DeskApp(of: host.host), isSecure: true) { screens, port, _ in
                let answer = try await ScreenBrowser(port: port).get(screens.signInAddress(at: ""))
                #expect(answer["set-cookie"]?.hasSuffix("; SameSite=Strict; Secure") == true)
            }
        }
    }

    // MARK: Other sites

    @Test func `a request from a page of another site, or to another host, is refused`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.page(), own = "http://127.0.0.1:\(shown.port)"
            let press = ["kind": "press", "id": page.id("add")]
            let foreign = [
                ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": own + "0"],
                ["Origin": "http://localhost:\(shown.port)"], ["Sec-Fetch-Site": "cross-site"],
                ["Sec-Fetch-Site": "none"], ["Origin": own, "Sec-Fetch-Site": "same-site"],
            ]
            _ = try await shown.browser.events(of: page)
            for fields in foreign {
                let form = try await shown.browser.post(
                    form: [("token", page.token), ("screen", "\(page.screen)"), ("press", page.id("add"))], fields)
                #expect(form.status == 403, "\(fields)")
                #expect(try await shown.browser.post(page, press, fields).status == 403, "\(fields)")
            }
            #expect(try await shown.browser.get("/", ["Origin": "http://evil.example"]).status == 403)
            for host in ["evil.example:\(shown.port)", "127.0.0.1.evil.example"] {
                #expect(try await shown.browser.get("/events?tab=a", ["Host": host]).status == 403)
                #expect(try await shown.browser.post(page, press, ["Host": host]).status == 403)
            }
            // A link of another site leads to a page from which the person goes on.
            for (site, status) in [("cross-site", 403), ("same-site", 403), ("none", 200), ("same-origin", 200)] {
                let answer = try await shown.browser.get("/", ["Sec-Fetch-Site": site])
                #expect(answer.status == status, "\(site)")
                #expect(status == 200 || answer.text.contains("<a href=\"/\">Try again</a>"))
            }
            #expect(shown.desk.events.all.isEmpty)
            let fields = ["Origin": own, "Sec-Fetch-Site": "same-origin"]
            #expect(try await shown.browser.post(page, press, fields).status == 204)
            #expect(shown.desk.events.all.count == 1)
        }
    }

    @Test func `a request without the token of the page is refused`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.page()
            let foreign = try await shown.otherBrowser().page().token
            _ = try await shown.browser.events(of: page)
            for token in ["", "0", foreign, page.token + "0", String(page.token.reversed())] {
                let fields = [("token", token), ("screen", "\(page.screen)"), ("press", page.id("add"))]
                #expect(try await shown.browser.post(form: fields).status == 403)
                let press = ["kind": "press", "id": page.id("add")]
                #expect(try await shown.browser.post(page, press, ["X-Screen-Token": token]).status == 403)
            }
            #expect(try await shown.browser.post(form: [("press", page.id("add"))]).status == 403)
            #expect(shown.desk.events.all.isEmpty)
        }
    }

    @Test func `every answer forbids what a page does not need`() async throws {
        try await ShownDesk.run { shown in
            let policy =
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            for path in ["/", "/screens.css", "/screens.js", "/screens/nothing", "/back", "/image?key=a"] {
                let answer = try await shown.browser.get(path)
                #expect(answer["x-content-type-options"] == "nosniff")
                #expect(answer["referrer-policy"] == "same-origin")
                if !path.hasPrefix("/image") { #expect(answer["content-security-policy"] == policy) }
                #expect(answer["cache-control"] == (path.hasPrefix("/screens.") ? "no-cache" : "no-store"))
                #expect(answer["access-control-allow-origin"] == nil)
            }
        }
    }

    // MARK: Pages

    @Test func `a page shows the first screen, with its stylesheet and script`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.get("/")
            #expect(page["content-type"] == "text/html; charset=utf-8")
            #expect(page.text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
            #expect(page.text.contains("<title>Desk</title>"))
            #expect(page.text.contains("<h1 tabindex=\"-1\">Desk</h1>"))
            for path in ["/screens.css", "/screens.js"] {
                #expect(page.text.contains("\"\(path)\""))
                let file = try await shown.browser.get(path), tag = try #require(file["etag"])
                #expect(file.status == 200 && !file.body.isEmpty)
                let known = try await shown.browser.get(path, ["If-None-Match": tag])
                #expect(known.status == 304 && known.body.isEmpty)
                #expect(try await shown.browser.get(path, ["If-None-Match": "\"0\""]).status == 200)
            }
            let head = try await shown.browser.send("HEAD", "/")
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test func `forms without script do what their buttons say`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser
            var page = try await browser.page()
            page = try await browser.submit(
                page, [page.id("note"): "Buy ink", page.id("urgent"): "false", "press": page.id("add")])
            #expect(page.text.contains(">Buy ink</p>"))
            #expect(
                shown.desk.events.all == [ViewEvent(.press, "add", values: ["note": "Buy ink", "urgent": "false"])])
            page = try await browser.submit(
                page, [page.id("urgent"): "false", page.id("urgent"): "true", "change": page.id("urgent")])
            #expect(
                shown.desk.events.all.last == ViewEvent(.change, "urgent", value: "true", values: ["urgent": "true"]))
            #expect(page.text.contains(" checked"))
            page = try await browser.submit(page, [page.id("query"): "ink", "change": page.id("query")])
            #expect(page.text.contains("value=\"ink\""))
            page = try await browser.submit(page, ["press": page.id("notes/Buy%20ink/remove")])
            #expect(shown.desk.events.all.last == ViewEvent(.press, "remove", rows: ["Buy ink"]))
            #expect(!page.text.contains("Buy ink"))
            page = try await browser.submit(page, [page.id("note"): "Ink\r\nPaper", "press": page.id("add")])
            #expect(shown.desk.events.all.last == ViewEvent(.press, "add", values: ["note": "Ink\nPaper"]))
            // The return key is of the field that was changed.
            _ = try await browser.submit(
                page, [page.id("query"): "ink", page.id("note"): "Paper", "submit": ""])
            #expect(
                shown.desk.events.all.last
                    == ViewEvent(.submit, "note", value: "Paper", values: ["query": "ink", "note": "Paper"]))
        }
    }

    @Test func `an event has the values of its own row, and of what surrounds the row`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            _ = try await browser.events(of: page)
            for note in ["Ink", "Paper"] {
                let press = ["kind": "press", "id": page.id("add")]
                #expect(try await browser.post(page, press, values: [page.id("note"): note]).status == 204)
            }
            let values = [
                page.id("query"): "q", page.id("note"): "own", page.id("notes/Ink/note"): "ink",
                page.id("notes/Paper/note"): "paper",
            ]
            for (key, note) in [("add", "own"), ("notes/Ink/remove", "ink"), ("notes/Paper/remove", "paper")] {
                let press = ["kind": "press", "id": page.id(key)]
                #expect(try await browser.post(page, press, values: values).status == 204)
                #expect(shown.desk.events.all.last?.values == ["query": "q", "note": note])
            }
        }
    }

    @Test func `a page without script is loaded again while something is under way`() async throws {
        try await ShownDesk.run { shown in
            let refresh = "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>"
            let calm = try await shown.browser.page()
            #expect(!calm.text.contains(refresh))
            shown.desk.remark.withLock { $0 = "busy" }
            let busy = try await shown.otherBrowser().page()
            #expect(busy.text.contains(refresh))
        }
    }

    @Test func `an event of a view that is gone, or cannot be used, does nothing`() async throws {
        try await ShownDesk.run { shown in
            let page = try await shown.browser.page()
            _ = try await shown.browser.events(of: page)
            let targets = [
                page.id("gone"), page.id("notes/none/remove"), page.id("never"), page.id("remark"), page.id(""),
                "\(page.screen + 1_000)/add", "\(page.screen)", "add", "", "/", "0/", "-1/add",
                "99999999999999999999/add", page.id(String(repeating: "/", count: 1_000)),
            ]
            for target in targets {
                #expect(try await shown.browser.post(page, ["kind": "press", "id": target]).status == 204)
                let form = try await shown.browser.post(
                    form: [("token", page.token), ("screen", "\(page.screen)"), ("press", target)])
                #expect(form.status == 303 && form["location"] == "/")
            }
            // Controls that do not have the event, or not the value.
            for (kind, key, value) in [("press", "note", ""), ("change", "add", ""), ("change", "urgent", "perhaps")] {
                let event = ["kind": kind, "id": page.id(key), "value": value]
                #expect(try await shown.browser.post(page, event).status == 204)
            }
            #expect(shown.desk.events.all.isEmpty)
        }
    }

    // MARK: Addresses

    @Test func `a screen has an address, and links, going back and reloading work without script`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, address = "/screens/page?input=%7B%22number%22%3A1%7D"
            let desk = try await browser.page()
            #expect(desk.text.contains("href=\"\(address)\""))
            let page = try await browser.page(address)
            #expect(page.text.contains("This is page 1") && page.text.contains("<title>Page 1</title>"))
            #expect(try await browser.page(address).screen == page.screen)
            let next = try await browser.page("/screens/page?input=%7B%22number%22%3A2%7D")
            #expect(next.text.contains("This is page 2"))
            // The button of a browser that leads back names the address.
            #expect(try await browser.page(address).screen == page.screen)
            let back = try await browser.get("/back")
            #expect(back.status == 303 && back["location"] == "/")
            #expect(try await browser.page().screen == desk.screen)
            let left = try await browser.submit(try await browser.page(address), ["press": "\(desk.screen)/add"])
            #expect(left.text.contains("This is page 1"))
            let again = try await browser.page(address)
            let root = try await browser.submit(again, ["press": again.id("leave")])
            #expect(root.screen == desk.screen)
            // An address is also valid in another browser.
            let other = try await shown.otherBrowser().page(address)
            #expect(other.text.contains("This is page 1") && other.screen != page.screen)
        }
    }

    @Test func `an address that leads nowhere is a page that says so`() async throws {
        try await ShownDesk.run { shown in
            let wrong = [
                ("/screens/nothing", 404), ("/screens/", 404), ("/screens/a/b", 404), ("/tabs/x", 404),
                ("/screens/page?input=%7B", 400), ("/screens/page", 400), ("/screens/page?input=%FF", 400),
                ("/screens/%FF", 404), ("/screens/%3Cscript%3Ealert(1)%3C%2Fscript%3E", 404),
                ("/screens/page?input=%7B%22number%22%3A5000%7D", 404),
            ]
            for (path, status) in wrong {
                let answer = try await shown.browser.get(path)
                #expect(answer.status == status, "\(path)")
                #expect(answer["content-type"] == "text/html; charset=utf-8")
                #expect(answer.text.contains("<a href=\"/\">Try again</a>"))
                #expect(!answer.text.contains("<1,000>") && !answer.text.contains("<script>"))
            }
            #expect(try await shown.browser.page().text.contains("<title>Desk</title>"))
            let moved = try await shown.browser.get("/tabs/7")
            #expect(moved.status == 303 && moved["location"] == "/")
        }
    }

    @Test func `an error of the first screen is a page, and the next request tries again`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = AppManager(host.host)
            try await WebScreens.running(app) { screens, port, _ in
                let browser = ScreenBrowser(port: port)
                try await browser.signIn(to: screens)
                for _ in 0..<2 {
                    let page = try await browser.get("/")
                    #expect(page.status == 500)
                    #expect(page.text.contains("no first screen is named"))
                }
            }
        }
    }

    @Test func `another method is not allowed, and what is too large is refused`() async throws {
        try await ShownDesk.run { shown in
            let browser = shown.browser, page = try await browser.page()
            for (method, path, allowed) in [
                ("POST", "/", "GET, HEAD"), ("PUT", "/event", "POST"), ("GET", "/event", "POST"),
            ] {
                let answer = try await browser.send(method, path)
                #expect(answer.status == 405 && answer["allow"] == allowed)
            }
            #expect(try await browser.get("/favicon.ico").status == 404)
            let long = String(repeating: "x", count: 1 << 20)
            let form = [("token", page.token), (page.id("note"), long), ("press", page.id("add"))]
            #expect(try await browser.post(form: form).status == 413)
            let many = (0..<1_000).map { ("\($0)", "") }, short = [("token", page.token), ("press", page.id("add"))]
            let refused = try await browser.post(form: short + many)
            #expect(refused.status == 400 && refused.text.contains("the form has more than 1000 fields"))
            let query = many.map { $0.0 + "=" }.joined(separator: "&")
            #expect(try await browser.get("/events?tab=a&\(query)").status == 400)
            #expect(shown.desk.events.all.isEmpty)
            // A malformed body of a script.
            for body in ["", "{", "[]", #"{"kind": "fly"}"#, #"{"kind": "press"}"#, #"{"kind": "press", "tab": "<>"}"#]
            {
                let fields = ["Content-Type": "application/json", "X-Screen-Token": page.token]
                #expect(try await browser.send("POST", "/event", fields, body: body).status == 400, "\(body)")
            }
        }
    }

    private static let node = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/node" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: node != nil, "node is not installed"))
    func `the script is valid, and evaluates no text`() throws {
        #expect(!ScreenScript.source.contains("eval(") && !ScreenScript.source.contains("Function("))
        let folder = try TestFolder(), process = Process()
        process.executableURL = URL(filePath: try #require(Self.node))
        process.arguments = ["--check", try folder.write(Array(ScreenScript.source.utf8), as: "screens.js")]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

/// The fixture plugin with screens, and a browser that is signed in.
struct Harbour: Sendable {
    let host: PluginHost
    let screens: WebScreens
    let port: UInt16
    let browser: ScreenBrowser
    private let folder: TestFolder
    private let library: String

    /// Runs a host with the first edition, whose windows begin with the list of ships.
    static func run(_ body: (Harbour) async throws -> Void) async throws {
        let folder = try TestFolder()
        let library = try folder.write(try FixtureLibrary.bytes("Screens1"), as: "libScreens.so")
        let manifest = Manifest(
            plugins: [PluginReference(library: library)],
            managers: ["Harbour": ManagerDefinition(className: "Harbour")],
            screens: ScreenSettings(root: try Destination("harbour.ships")))
        try await PluginHost.running(manifest, in: folder.path, executors: []) { host in
            try await WebScreens.running(AppManager(host)) { screens, port, _ in
                let browser = ScreenBrowser(port: port)
                try await browser.signIn(to: screens)
                try await body(
                    Harbour(
                        host: host, screens: screens, port: port, browser: browser, folder: folder, library: library))
            }
        }
    }

    func swap(to edition: Int) async throws {
        try folder.write(try FixtureLibrary.bytes("Screens\(edition)"), as: "libScreens.so")
        var options = ChangeOptions.patient
        options.trustsLibraries = true
        #expect(try await host.swap(library: library, options).outcome == .changed)
    }
}
#endif
