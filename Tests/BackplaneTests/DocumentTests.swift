import Foundation
import FoundationEssentials
import Testing

@testable import Backplane
@testable import BackplaneDocuments

@Suite struct DocumentValueTests {
    private func parse(_ text: String) throws(DocumentError) -> DocumentValue {
        try DocumentValue(json: Data(text.utf8))
    }

    @Test(
        arguments: [#"{"a": 1}"#, "<plist><dict/></plist>"],
        [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian])
    func `a document in UTF-16, with a byte order mark or without one, is told as such`(
        text: String, encoding: String.Encoding
    ) throws {
        let bytes = try #require(text.data(using: encoding))
        let error = #expect(throws: DocumentError.self) { try DocumentValue(parsing: bytes, as: .document) }
        #expect(error?.reason == "expected the encoding UTF-8, found UTF-16; save the file as UTF-8")
    }

    @Test func `keys that differ only in their Unicode form are not called repeated`() {
        let error = #expect(throws: DocumentError.self) { try parse("{\"\u{E9}\": 1, \"e\u{301}\": 2}") }
        #expect(error?.kind == .unsupported)
        #expect(error?.reason.contains("differs from another one only in its Unicode form") == true)
    }

    @Test func `it is encoded and decoded as what it is`() throws {
        let value: DocumentValue = ["list": [1, 2.5, nil, false], "object": ["text": "x"], "none": [:]]
        let bytes = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(DocumentValue.self, from: bytes) == value)
        #expect(try parse(String(decoding: bytes, as: UTF8.self)) == value)
    }

    @Test func `what a property list has beyond JSON becomes text and numbers`() throws {
        let list: DocumentValue = .array([
            .data(Data([1, 2])), .date(Date(timeIntervalSinceReferenceDate: 3)), .number(.infinity), .integer(4),
        ])
        #expect(try parse(String(decoding: list.json, as: UTF8.self)) == ["AQI=", 3, nil, 4])
    }

    @Test func `a value is found by its pointer, and a missing one by what would contain it`() {
        let text = Data("{\n  \"a\": [1,\n    {\"b\": 2}]\n}".utf8)
        let positions = SourcePosition.positions(of: ["/a/1/b", "/a/1/c", "/x"], in: text)
        #expect(positions["/a/1/b"] == SourcePosition(line: 3, column: 6))
        #expect(positions["/a/1/c"] == SourcePosition(line: 3, column: 5))
        #expect(positions["/x"] == SourcePosition(line: 1, column: 1))
    }

    @Test(arguments: ["{\"a\": 1", "<plist><dict><key>a</key><true/></dict></plist>", "bplist00"])
    func `a malformed text and a property list have no positions`(text: String) {
        #expect(SourcePosition.positions(of: ["/a"], in: Data(text.utf8)).isEmpty)
    }
}

@Suite struct JSONComparisonTests {
    private func compare(_ a: String, _ b: String) -> JSONComparison { JSONComparison(Data(a.utf8), Data(b.utf8)) }

    @Test(arguments: [
        ("{}", "{}"), (#"{"a": 1, "b": [2]}"#, #"{"b":[2],"a":1}"#), ("[1, 2]", "[1,2]"),
        (#"{"a": {"c": 1, "d": 2}}"#, #"{"a": {"d": 2, "c": 1}}"#), ("no JSON", "no JSON"),
    ])
    func `objects have no order`(a: String, b: String) { #expect(compare(a, b) == .equal) }

    @Test func `documents beyond the limits of a manifest are compared, too`() {
        let deep = (String(repeating: "[", count: 500), String(repeating: "]", count: 500))
        #expect(compare("\(deep.0)1, 2\(deep.1)", "\(deep.0)1,2\(deep.1)") == .equal)
        #expect(compare("\(deep.0)1, 2\(deep.1)", "\(deep.0)2,1\(deep.1)") == .reordered)
        let large = String(repeating: "x", count: 17 << 20)
        #expect(compare("[\"\(large)\"]", "[ \"\(large)\"]") == .equal)
    }

    @Test(arguments: [
        ("[1, 2]", "[2, 1]"), (#"{"a": ["x", "y"]}"#, #"{"a": ["y", "x"]}"#), ("[[1, 2], [3]]", "[[3], [2, 1]]"),
        (#"[{"a": 1, "b": 2}, {"c": 3}]"#, #"[{"c": 3}, {"b": 2, "a": 1}]"#), ("[1, 1, 2]", "[1, 2, 1]"),
    ])
    func `arrays do`(a: String, b: String) { #expect(compare(a, b) == .reordered) }

    @Test(arguments: [
        ("[1, 2]", "[1]"), ("[1, 1, 2]", "[1, 2, 2]"), (#"{"a": 1}"#, #"{"a": 2}"#), (#"{"a": 1}"#, "{}"), ("1", "2"),
        (#"{"a": 1}"#, "no JSON"), ("no JSON", "none"), ("", "[]"), ("[[1], [2, 3]]", "[[1, 2], [3]]"),
    ])
    func `other values are different`(a: String, b: String) { #expect(compare(a, b) == .different) }
}

/// What counts as JSON in V27: the grammar, and nothing but that.
@Suite struct JSONReaderTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "1e400", "-1.5E-3", "12345678901234567890123", #""""#, #""\ud800""#,
        #""a\n\u00e9\"\/""#, "[]", "{}", " [ 1 , 2 ] \n",
        #"{"a": {"b": [null, {}]}, "a": []}"#, #""ü€😀""#, "[[],[[]],{}]",
    ])
    func `is JSON`(text: String) { #expect(JSONReader.isJSON(Array(text.utf8))) }

    @Test(arguments: [
        "", " ", "nul", "nulll", "01", "-", "1.", ".5", "1e", "+1", "NaN", "Infinity", "'a'", #"""#, #""\x""#,
        #""\u12""#, "\"\n\"", "[", "]", "[1,]", "[,]", "[1 2]", "{",
        "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{1:2}", "[1}", "1 2", "null,", "\u{FEFF}1", "// a\n1",
    ])
    func `is none`(text: String) { #expect(!JSONReader.isJSON(Array(text.utf8))) }

    @Test func `is at any depth`() {
        let depth = 200_000
        #expect(JSONReader.isJSON(Array(repeating: 0x5B, count: depth) + Array(repeating: 0x5D, count: depth)))
        #expect(!JSONReader.isJSON(Array(repeating: 0x5B, count: depth) + Array(repeating: 0x5D, count: depth - 1)))
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFE, 0xFF, 0x00, 0x31], [0x31, 0x00], [0x31, 0xC0],
        ] as [[UInt8]])
    func `is UTF-8`(bytes: [UInt8]) { #expect(!JSONReader.isJSON(bytes)) }

    @Test(
        arguments: [
            (" [ 1 ]\n", "1"), ("[[]]", "[]"), (#"["a,]"]"#, #""a,]""#), ("[]", nil), ("[1,2]", nil), ("[1", nil),
            ("{}", nil), ("[1]]", nil), ("[1],[2]", nil), ("", nil), ("[", nil), ("1", nil), ("[ ]", nil),
        ] as [(String, String?)])
    func `the only element of an array is found`(array: String, element: String?) {
        let found = try? JSONReader.onlyElement(of: Array(array.utf8))
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == element)
    }

    @Test func `the only element of an array may be nested as deeply as an answer`() throws {
        let deep = [UInt8](repeating: 0x5B, count: 1_000) + [UInt8](repeating: 0x5D, count: 1_000)
        #expect(try JSONReader.onlyElement(of: [0x5B] + deep + [0x5D]) == deep)
    }
}

/// What is said about JSON of another shape than a type has.
@Suite struct JSONMistakeTests {
    private struct Place: Decodable {
        var name: String
        var position: [Double]
        var visits: [String: Int]
        var next: [Stop]
    }
    private struct Stop: Decodable {
        var isOpen: Bool
    }
    private struct Whole: Decodable {}

    private func mistake<Value: Decodable>(_ type: Value.Type, _ json: String) -> String? {
        do throws(BackplaneError) {
            _ = try JSON.decode(type, Array(json.utf8), failing: .callInvalidInput)
            return nil
        } catch {
            return [error.location, error.message].compactMap(\.self).joined(separator: ": ")
        }
    }

    @Test(arguments: [
        (#""Oslo""#, "expected an object, found a string"), ("[]", "expected an object, found an array"),
        ("null", "expected an object, found null"), ("7", "expected an object, found a number"),
        ("{}", "/name: `name` is missing"), (#"{"name": 7}"#, "/name: expected a string, found a number"),
        (#"{"name": null}"#, "/name: expected a string, found null"),
        (#"{"name": "a", "position": {}}"#, "/position: expected an array, found an object"),
        (#"{"name": "a", "position": [1, "x"]}"#, "/position/1: expected a number, found a string"),
        (#"{"name": "a", "position": [], "visits": [1]}"#, "/visits: expected an object, found an array"),
        (#"{"name": "a", "position": [], "visits": {"7": {}}}"#, "/visits/7: expected an integer, found an object"),
        (
            #"{"name": "a", "position": [], "visits": {}, "next": [{"isOpen": true}, {"isOpen": 1}]}"#,
            "/next/1/isOpen: expected a boolean, found a number"
        ),
        (
            #"{"name": "a", "position": [], "visits": {}, "next": [true]}"#,
            "/next/0: expected an object, found a boolean"
        ),
    ])
    func `the place is named, what belongs there, and what is there`(json: String, says: String) {
        #expect(mistake(Place.self, json) == says)
    }

    @Test(arguments: ["", "{", "Oslo", "[\"a\"", "{\"a\" 1}"])
    func `what is no JSON is said to be none, with what was met`(text: String) throws {
        let message = try #require(mistake([String].self, text))
        #expect(message.hasPrefix("expected JSON"), "\(message)")
    }

    @Test func `a number that does not fit is not called malformed`() throws {
        struct Small: Decodable { var size: UInt8 }
        #expect(mistake([UInt8].self, "[300]") == "a number is not an integer, or is too large for its type")
        let fraction = try #require(mistake([String: Int].self, #"{"a": 1.5}"#))
        #expect(!fraction.contains("expected JSON") && !fraction.hasSuffix(": "), "\(fraction)")
        let message = try #require(mistake(Small.self, #"{"size": 300}"#))
        #expect(!message.contains("expected JSON"), "\(message)")
    }

    @Test func `JSON that is nested too deeply is not called malformed alone`() throws {
        let depth = 10_000, text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try #require(mistake([String].self, text)).contains("too deeply nested"))
    }

    @Test func `the words of a type that refuses a value of the right kind are kept`() {
        struct Country: Decodable {
            init(from decoder: any Decoder) throws {
                throw DecodingError.typeMismatch(
                    String.self, .init(codingPath: decoder.codingPath, debugDescription: "a code has two letters"))
            }
        }
        #expect(mistake([Country].self, #"["Norway"]"#) == "/0: a code has two letters")
    }
}

@Suite struct UnknownKeysTests {
    struct Settings: Decodable, Equatable {
        struct Cache: Decodable, Equatable {
            var keep: Int?
        }
        var name: String
        var cache: Cache?
        var since: Date?
        var limits: [String: Int]?
        var tags: [String]?
        var caches: [Cache]?
        var named: [String: Cache]?
        var days: [Date]?
    }

    private func decode(_ json: String) throws(BackplaneError) -> KnownAndUnknown<Settings> {
        try JSON.decode(KnownAndUnknown<Settings>.self, Array(json.utf8), failing: .configurationInvalid)
    }

    @Test func `keys that the type does not know are named by their paths`() throws {
        let found = try decode(#"{"name": "A", "nmae": "B", "cache": {"keep": 5, "keeep": 6}}"#)
        #expect(found.value == Settings(name: "A", cache: .init(keep: 5)))
        #expect(found.unknownKeys == ["/nmae", "/cache/keeep"])
    }

    @Test func `keys in lists and dictionaries are named too`() throws {
        let found = try decode(
            #"{"name": "A", "caches": [{"keep": 1}, {"kep": 2}], "named": {"x": {"keep": 3, "kept": 4}}}"#)
        #expect(found.value == Settings(name: "A", caches: [.init(keep: 1), .init()], named: ["x": .init(keep: 3)]))
        #expect(found.unknownKeys.sorted() == ["/caches/1/kep", "/named/x/kept"])
        let steps = try decode(#"{"name": "A", "text/plain": 1, "named": {"a/b~c": {"kept": 4}}}"#)
        #expect(steps.unknownKeys.sorted() == ["/named/a~1b~0c/kept", "/text~1plain"])
    }

    @Test func `everything that is known is decoded as ever`() throws {
        let found = try decode(
            #"{"name": "A", "cache": null, "since": 86400, "limits": {"any": 1, "thing": 2}, "tags": ["x"], "days": [0]}"#
        )
        #expect(
            found.value
                == Settings(
                    name: "A", since: Date(timeIntervalSinceReferenceDate: 86_400), limits: ["any": 1, "thing": 2],
                    tags: ["x"],
                    days: [Date(timeIntervalSinceReferenceDate: 0)]))
        #expect(found.unknownKeys == [])
    }

    @Test(arguments: [
        (#"{}"#, "/name"), (#"{"name": 3}"#, "/name"), (#"{"name": "A", "cache": {"keep": "x"}}"#, "/cache/keep"),
        (#"{"name": "A", "cache": 1}"#, "/cache"),
        (#"{"name": "A", "caches": [{}, {"keep": "x"}]}"#, "/caches/1/keep"),
        (#"{"name": "A", "tags": ["x", 1]}"#, "/tags/1"),
    ])
    func `a wrong value is an error at its path`(json: String, path: String) {
        let error = #expect(throws: BackplaneError.self) { try decode(json) }
        #expect(error?.location == path)
    }
}
