#if Engines
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange
@testable import BackplaneHummingbird

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
