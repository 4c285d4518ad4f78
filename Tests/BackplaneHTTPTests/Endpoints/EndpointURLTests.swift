import Backplane
import BackplaneNetwork
import Testing

/// The URL of an endpoint: a base URL, a path and a query become one.
struct EndpointURLTests {
    private func url(
        _ base: String?, _ path: String, _ query: KeyValuePairs<String, String?> = [:], full: Bool = false
    ) throws -> String {
        var endpoint = Endpoint<String>("GET", path, query: query)
        endpoint.allowsFullURL = full
        return try endpoint.request(EndpointDefaults(baseURL: base)).url
    }

    @Test(arguments: [
        ("http://h", "books", "http://h/books"), ("http://h/", "books", "http://h/books"),
        ("http://h", "/books", "http://h/books"), ("http://h//", "//books", "http://h/books"),
        ("http://h/v2", "books/1", "http://h/v2/books/1"), ("http://h/v2/", "books/", "http://h/v2/books/"),
        ("http://h/v2", "", "http://h/v2"), ("http://h/v2?key=1", "books", "http://h/v2/books?key=1"),
        ("http://h?key=1", "books?page=2", "http://h/books?key=1&page=2"),
        ("http://h#part", "books#part", "http://h/books"),
        ("http://h", "white whale/ü", "http://h/white%20whale/%C3%BC"),
        ("http://h", "a%2Fb", "http://h/a%2Fb"), ("http://h", "a;b/..c/.d", "http://h/a;b/..c/.d"),
        ("http://h", "a:b", "http://h/a:b"),
        ("http://h", "//evil.test/books", "http://h/evil.test/books"),
        ("http://h", "?q=http://other.test", "http://h?q=http://other.test"),
        ("http://h/v2/", "", "http://h/v2/"), ("http://h/v2/", "?q=1", "http://h/v2/?q=1"),
        ("http://h", "caf%C3%A9 menu|[1]é%", "http://h/caf%C3%A9%20menu%7C%5B1%5D%C3%A9%25"),
        ("http://h/a b%20", "c?q=%C3%A9 {1}", "http://h/a%20b%20/c?q=%C3%A9%20%7B1%7D"),
        ("http://bücher.example", "b", "http://xn--bcher-kva.example/b"),
    ])
    func `base and path are joined by exactly one slash, and both queries survive`(
        base: String, path: String, expected: String
    ) throws {
        #expect(try url(base, path) == expected)
    }

    @Test func `a query is encoded in its order, and has no fields without a value`() throws {
        let found = try url("http://h?key=1", "s?a=b", ["q": "white & whale+", "none": nil, "q": "ü=/?", "e": ""])
        #expect(found == "http://h/s?key=1&a=b&q=white%20%26%20whale%2B&q=%C3%BC%3D%2F%3F&e=")
    }

    @Test func `a full URL is loaded only if it is allowed`() throws {
        for path in ["http://other.test/a", "HTTPS://other.test", "file:///etc/passwd"] {
            let error = #expect(throws: BackplaneError.self) {
                let found = try url("http://h", path)
                return found
            }
            #expect(error?.code == .networkInvalidRequest && error?.message.contains("allowsFullURL") == true)
        }
        #expect(
            try url("http://h?key=1", "http://other.test/a?b=c", ["d": "e"], full: true)
                == "http://other.test/a?b=c&d=e")
        #expect(try url(nil, "http://other.test/a/../b", full: true) == "http://other.test/a/../b")
        #expect(try url("http://h", "books", full: true) == "http://h/books")
    }

    @Test(arguments: [
        "../admin", "books/../../admin", "books/.", "%2e%2E/admin", "books/.%2e", "books/..%2Fadmin", "..%5cadmin",
        "..\\admin", "books/..;a=b/admin", "..;", "books/../\u{301}admin", "..#\u{301}", "..?\u{301}",
        "%252e%252e/admin", "books/%25252E./admin", "..%3badmin", "books/..%3Ba=b/admin", "%%32e%2e", "a%2525252f..",
        "a%252525252525252541",
    ])
    func `a path that leads out of the base URL is refused`(path: String) throws {
        let error = #expect(throws: BackplaneError.self) {
            let found = try url("http://h/v2", path)
            return found
        }
        #expect(error?.code == .networkInvalidRequest && error?.message.contains("`..`") == true)
    }

    @Test(
        arguments: [
            (["loans", "7"], "http://h/v2/loans/7"),
            (["a/b?c", "50%", "ü #"], "http://h/v2/a%2Fb%3Fc/50%25/%C3%BC%20%23"),
            (["a/../b", "..;", "%2e%2e"], "http://h/v2/a%2F..%2Fb/..%3B/%252e%252e"), ([], "http://h/v2"),
            (["http://other.test"], "http://h/v2/http%3A%2F%2Fother.test"), (["loans", ""], nil), (["", "loans"], nil),
            ([""], nil),
            ([".."], nil), (["loans", "."], nil),
            ([String(repeating: "x", count: 10_000)], "http://h/v2/" + String(repeating: "x", count: 10_000)),
        ] as [([String], String?)])
    func `every value of an array is one segment`(segments: [String], expected: String?) throws {
        let defaults = EndpointDefaults(baseURL: "http://h/v2"), endpoint = Endpoint<String>("GET", segments)
        if let expected { return #expect(try endpoint.request(defaults).url == expected) }
        let error = #expect(throws: BackplaneError.self) {
            let request = try endpoint.request(defaults)
            return request.url
        }
        #expect(error?.code == .networkInvalidRequest)
    }

    @Test func `segments are written where the path is, for every type of response`() throws {
        let id = "a/b", defaults = EndpointDefaults(baseURL: "http://h")
        #expect(try Endpoint<[Int]>("GET", ["loans", id]).request(defaults).url == "http://h/loans/a%2Fb")
        #expect(try Endpoint<Nothing>("delete", ["loans", id]).request(defaults).method == "DELETE")
        var file = Endpoint<DownloadedFile>("GET", ["files", id], to: "b")
        #expect(try file.request(defaults).url == "http://h/files/a%2Fb")
        file.path = "../b"
        #expect(throws: BackplaneError.self) {
            let request = try file.request(defaults)
            return request.url
        }
    }

    @Test func `a path without a base URL is refused`() {
        let error = #expect(throws: BackplaneError.self) {
            let found = try url(nil, "books?token=secret")
            return found
        }
        #expect(error?.code == .networkInvalidRequest && error?.message.contains("no base URL") == true)
        #expect(error?.location == "books", "the query may contain secrets")
    }

    @Test func `header fields of the client go to the origin of its base URL only, and those of the endpoint first`()
        throws
    {
        var defaults = EndpointDefaults(baseURL: "http://h:80/v2")
        defaults.headers = ["Authorization": "secret", "Accept": "a"]
        var endpoint = Endpoint<String>("GET", "books", headers: ["accept": "b"])
        #expect(try endpoint.request(defaults).headers == ["accept": "b", "Authorization": "secret"])
        endpoint.allowsFullURL = true
        for (path, isOwn) in [
            ("http://H/x", true), ("http://other/x", false), ("http://h:81/x", false), ("https://h/x", false),
        ] {
            endpoint.path = path
            #expect((try endpoint.request(defaults).headers["Authorization"] != nil) == isOwn, "\(path)")
            defaults.baseURL = nil
            #expect(try endpoint.request(defaults).headers["Authorization"] == nil, "\(path)")
            defaults.baseURL = "http://h:80/v2"
        }
    }
}
