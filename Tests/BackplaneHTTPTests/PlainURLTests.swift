import BackplaneNetwork
import FoundationEssentials
import TestGenerators
import Testing

struct PlainURLTests {
    /// Parts that URLs are put together from at random, with some that belong elsewhere or nowhere.
    private static let pieces = [
        "http", "https", "file", "HTTP", "://", ":", "/", "//", "?", "#", "@", "%20", "%", "127.0.0.1", "example.org",
        "Example.ORG", "xn--bcher-kva.example", "a--b", "[::1]", ".", "-", "8080", "99999", "books", "a=b", "&", ";",
        "ä",
        " ", "\r\n", "|", "^", "\"", "\u{0}", "$", "'", "(", "~",
    ]

    @Test("the parts of a plain URL are those that Foundation finds")
    func parts() {
        var numbers = SeededNumbers(7), plain = 0
        for number in 0..<50_000 {
            let start = numbers.once(in: 4) ? "" : "http://" + numbers.pick(Self.pieces)
            let url = (0..<Int.random(in: 0..<6, using: &numbers)).reduce(start) { url, _ in
                url + numbers.pick(Self.pieces)
            }
            guard let parts = PlainURL(url) else { continue }
            plain += 1
            let found = URLComponents(string: url)
            #expect(found?.host == String(parts.host), "\(number): \(url)")
            let authority = (found?.host ?? "") + (found?.port.map { ":\($0)" } ?? "")
            #expect(authority == String(parts.authority), "\(number): \(url)")
            #expect((found?.query != nil) == parts.hasQuery, "\(number): \(url)")
            #expect(found?.string == url, "\(number): \(url)")
            #expect(found?.user == nil && found?.password == nil && found?.fragment == nil, "\(number): \(url)")
        }
        #expect(plain > 1_000)
    }

    @Test(
        "usual URLs are plain",
        arguments: [
            "http://127.0.0.1:8080/books", "http://127.0.0.1:54321/books", "https://example.org",
            "https://example.org/?page=1&per=20",
            "http://Example.org:80/a/b.json",
        ])
    func usual(_ url: String) { #expect(PlainURL(url) != nil) }

    @Test(
        "URLs with something to decode or to hide are not plain",
        arguments: [
            "http://user@example.org/", "http://user:word@example.org/", "http://example.org/#part",
            "http://example.org/a%20b", "http://xn--bcher-kva.example/", "http://[::1]/", "http:///books", "http:books",
            "HTTP://example.org/", "http://example.org:/", "http://example.org:080/", "http://example.org:80a/",
            "http://example.org:65536/", "",
            "://", "books",
        ])
    func others(_ url: String) { #expect(PlainURL(url) == nil) }
}
