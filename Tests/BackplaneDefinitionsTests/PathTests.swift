import Backplane
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

/// The URLs of requests: joining, encoding, and what arguments may do to them.
struct PathTests {
    struct Search: Encodable {
        var zip: Int?
        var remoteId: String?
        var tags: [String]?
        var near: Place?
    }
    struct Place: Encodable {
        var city: String
    }

    private func url(
        _ path: String, _ arguments: (any Encodable & Sendable)?..., base: String = "https://example.org/v1"
    )
        throws -> String
    {
        let json = String(decoding: try JSONEncoder().encode(["path": path]), as: UTF8.self)
        let defined = try DefinedRequest(json, baseURL: base)
        let prepared = try defined.service.m.prepared(arguments)
        return try prepared.endpoint(Data.self).request(prepared.client.defaults).url
    }

    @Test(
        arguments: [
            ("pharmacies", "https://example.org/v1/pharmacies"), ("/pharmacies", "https://example.org/v1/pharmacies"),
            ("//a", "https://example.org/v1/a"), ("", "https://example.org/v1"),
            ("?a=1", "https://example.org/v1?a=1"), ("a?b=c&d", "https://example.org/v1/a?b=c&d"),
            ("a b/é?x=ü y", "https://example.org/v1/a%20b/%C3%A9?x=%C3%BC%20y"),
            ("100%%/%41%2f", "https://example.org/v1/100%25/%41%2f"), ("50%", "https://example.org/v1/50%25"),
            ("a[1]?b[]=2", "https://example.org/v1/a%5B1%5D?b%5B%5D=2"), ("a#b?c", "https://example.org/v1/a"),
            ("a?b?c", "https://example.org/v1/a?b?c"), ("a?&&b=1&", "https://example.org/v1/a?b=1"),
            (#"a\"b<>^`{|}"#, "https://example.org/v1/a%5C%22b%3C%3E%5E%60%7B%7C%7D"),
        ])
    func `a path is joined to the base URL, with what a URL cannot have encoded`(path: String, expected: String) throws
    {
        #expect(try url(path) == expected)
    }

    @Test func `the queries of base URL and path both stay, with one slash between`() throws {
        #expect(try url("/a?y=%0", 2, base: "https://example.org/v1/?x=1") == "https://example.org/v1/a?x=1&y=2")
    }

    @Test(
        arguments: [
            "a/b", "a?b=c&d", "a#b", "a\r\nHost: evil", "a\u{0}b", "🐳", "%0", "%{0}", "100%", "a b+c", "é", "%2e", "",
        ])
    func `an argument stays in its place, whatever it is, and is never expanded again`(argument: String) throws {
        var allowed = CharacterSet.alphanumerics.intersection(
            CharacterSet(charactersIn: Unicode.Scalar(0)...Unicode.Scalar(127)))
        allowed.insert(charactersIn: "-._~")
        let encoded = try #require(argument.addingPercentEncoding(withAllowedCharacters: allowed))
        #expect(try url("x/y%0/z?q=%0&r=1", argument) == "https://example.org/v1/x/y\(encoded)/z?q=\(encoded)&r=1")
    }

    @Test(arguments: [".", "..", "../admin", "%2e%2e"])
    func `an argument does not lead out of the base URL`(argument: String) throws {
        #expect { try url("x/%0/y", argument) } throws: {
            ($0 as? BackplaneError)?.code == .networkInvalidRequest
        }
    }

    @Test(arguments: [".", "..", "../admin", "%2e%2e"])
    func `an argument does not lead out of its place in a full URL`(argument: String) throws {
        let defined = try DefinedRequest(#"{"path": "https://example.org/users/%0/avatar", "allowsFullURL": true}"#)
        #expect {
            try defined.service.m.prepared([argument]).endpoint(Data.self)
        } throws: {
            ($0 as? BackplaneError)?.code == .definitionArguments
        }
    }

    @Test func `numbers, Boolean values and properties have a text`() throws {
        let search = Search(zip: 1011, near: Place(city: "Zürich West"))
        #expect(
            try url("%0/%1/%2/%3[zip]?c=%3[near.city]&n=%3[tags]", 7, true, 0.5, search)
                == "https://example.org/v1/7/true/0.5/1011?c=Z%C3%BCrich%20West")
        #expect(try url("%0/%1", UInt64.max, Int8.min) == "https://example.org/v1/18446744073709551615/-128")
    }

    @Test func `a model becomes a query of its properties`() throws {
        let search = Search(zip: 1011, remoteId: "a&b", tags: ["x,y", "ü"])
        #expect(try url("s?%0&p=1", search) == "https://example.org/v1/s?id=a%26b&tags=x%2Cy,%C3%BC&zip=1011&p=1")
        #expect(try url("s?%0", Search()) == "https://example.org/v1/s")
        #expect(try url("s?%0", ["b": 2, "a": 1]) == "https://example.org/v1/s?a=1&b=2")
    }

    @Test func `a field of the query whose argument is nil is left out`() throws {
        #expect(try url("s?a=%0&b=%1&%0", nil, 2) == "https://example.org/v1/s?b=2")
    }

    @Test(
        arguments: [
            ("a/%0", nil), ("a/%0[x]", ["y": 1]), ("a/%0", ["y": 1]), ("a?q=%0", ["y": 1]), ("a/%0", Data("x".utf8)),
            ("a?%0", Search(near: Place(city: "x"))), ("a/%0[x]", "text"), ("a?q=%0", [["x"]]),
            ("a/%0", FilePart("f", bytes: [], fileName: "x")), ("a/%0", Double.nan),
        ] as [(String, (any Encodable & Sendable)?)])
    func `an argument that does not fit is a typed error`(path: String, argument: (any Encodable & Sendable)?) throws {
        #expect { try url(path, argument) } throws: { ($0 as? BackplaneError)?.code == .definitionArguments }
    }

    @Test func `a full URL is refused unless the definition allows it`() throws {
        #expect(throws: BackplaneError.self) { try DefinedRequest(#"{"path": "https://other.example.org/x"}"#) }
        let allowed = try DefinedRequest(
            #"{"path": "https://other.example.org:8080/x/%0?y=1", "allowsFullURL": true}"#, shared: ["X-Key": "k"])
        let request = try allowed.made("a/b")
        #expect(request.url == "https://other.example.org:8080/x/a%2Fb?y=1")
        #expect(request.headers["X-Key"] == nil)
    }

    @Test func `an argument cannot make a path a full URL`() throws {
        #expect(try url("%0", "https://evil.example.org") == "https://example.org/v1/https%3A%2F%2Fevil.example.org")
        #expect(throws: BackplaneError.self) { try url("%0://evil.example.org", "https") }
    }

    @Test func `a base URL that is none is refused when the service is created`() {
        #expect { try DefinedRequest(#"{"path": "a"}"#, baseURL: "example") } throws: {
            ($0 as? BackplaneError)?.code == .networkInvalidRequest
        }
    }
}

struct TemplateTests {
    /// A template and its remarks as text: `<0.a.b>` for an indicator.
    private func read(_ text: String, isURL: Bool = false) -> (text: String, remarks: [String]) {
        var remarks: [String] = []
        let template = Template(text, isURL: isURL) { remark in
            switch remark {
            case .mistake: remarks.append("mistake")
            case .percent(let found): remarks.append(found)
            case .octet(let octet): remarks.append(octet)
            }
        }
        let pieces = template.pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .indicator(let indicator):
                "<" + (["\(indicator.index)"] + indicator.properties).joined(separator: ".") + ">"
            }
        }
        return (pieces.joined(), remarks)
    }

    @Test(
        arguments: [
            ("", "", []), ("plain", "plain", []), ("%0", "<0>", []), ("a/%0/b", "a/<0>/b", []),
            ("%0%1", "<0><1>", []), ("%{0}", "<0>", []), ("%{12}x", "<12>x", []), ("%0[name]", "<0.name>", []),
            ("%{3}[author.name]s", "<3.author.name>s", []), ("100%%", "100%", []), ("%%0", "%0", []),
            ("%%%0", "%<0>", []), ("%20", "%20", ["%20"]), ("a%2Fb%0", "a%2Fb<0>", ["%2F"]),
            ("%0b", "%0b", ["%0b"]), ("%0x", "<0>x", []), ("%1[a]%2[b]", "<1.a><2.b>", []),
            ("100% sure", "100% sure", ["% "]), ("%", "%", ["%"]), ("%x", "%x", ["%x"]),
            ("%0[name", "[name", ["mistake"]), ("%0[]", "<0.>", ["mistake"]), ("%0[a..b]", "<0.a..b>", ["mistake"]),
            ("%{", "{", ["mistake"]), ("%{}", "{}", ["mistake"]), ("%{x}", "{x}", ["mistake"]),
            ("%{100}", "", ["mistake"]), ("%{1", "{1", ["mistake"]), ("é%0🐳", "é<0>🐳", []),
        ] as [(String, String, [String])])
    func `indicators, percent signs and octets are told apart`(text: String, expected: String, remarks: [String]) {
        let found = read(text)
        #expect(found.text == expected)
        #expect(found.remarks == remarks)
    }

    @Test func `in a URL a percent sign that stands for itself is encoded`() {
        #expect(read("100%%/%41/%", isURL: true).text == "100%25/%41/%25")
    }
}

struct MethodNameTests {
    @Test(
        arguments: [
            ("search", "search", [], nil, "search"),
            ("searchWithZIPCode:completionBlock:", "searchWithZIPCode", [], 1, "searchWithZIPCode:"),
            ("searchWithZIPCode:completionBlock:progressBlock:", "searchWithZIPCode", [], 1, "searchWithZIPCode:"),
            ("search:radius:completionBlock:", "search", ["radius"], 2, "search:radius:"),
            ("allWithCompletionBlock:", "all", [], 0, "all"),
            ("allWithCompletionBlock:progressBlock:", "all", [], 0, "all"),
            ("completionBlock:", "completionBlock", [], 1, "completionBlock:"),
            ("send::", "send", [""], 2, "send::"),
        ] as [(String, String, [String], Int?, String)])
    func `a key names a method and its arguments, without its blocks`(
        key: String, base: String, labels: [String], count: Int?, selector: String
    ) throws {
        let name = try MethodName(key)
        #expect(name.base == base)
        #expect(name.labels == labels)
        #expect(name.count == count)
        #expect(name.selector == selector)
    }

    @Test(arguments: ["", ":", "::", "a:b", "a b", "a\u{0}", "a\n:", ":completionBlock:"])
    func `other keys are refused`(key: String) {
        #expect(throws: MethodName.Mistake.self) { try MethodName(key) }
    }
}
