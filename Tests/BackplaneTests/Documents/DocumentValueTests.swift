import Foundation
import Testing

@testable import BackplaneDocuments

@Suite struct DocumentValueTests {
    private func parse(_ text: String) throws(DocumentError) -> DocumentValue {
        try DocumentValue(json: Data(text.utf8))
    }

    @Test func `every kind is read, and written with sorted keys and without spaces`() throws {
        let value = try parse(#" {"b": [null, true, -7, 1.5, "ü\u00fc\ud83d\ude00"], "a": {}} "#)
        #expect(value == ["a": [:], "b": [nil, true, -7, 1.5, "üü😀"]])
        #expect(String(decoding: value.json, as: UTF8.self) == #"{"a":{},"b":[null,true,-7,1.5,"üü😀"]}"#)
    }

    @Test(
        arguments: [
            ("1.0", .integer(1)), ("-0", .integer(0)), ("1e3", .integer(1_000)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(0x1p63)), ("0.25", .number(0.25)),
        ] as [(String, DocumentValue)])
    func `a whole number is an integer however it is spelled`(text: String, value: DocumentValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        ("", "line 1, column 1: the document is empty"),
        ("[1,\n 2 3]", "line 2, column 4: expected `,` or `]`, found `3`"),
        (#"{"a": 1, "a": 2}"#, "line 1, column 10: the key `a` is repeated"),
        ("[1] 2", "line 1, column 5: `2` after the end of the document"),
        (#"["\ud800"]"#, "line 1, column 3: half of a surrogate pair"),
        ("[1e999]", "line 1, column 2: a number out of range"),
    ])
    func `a mistake is found at its line and column`(text: String, words: String) {
        let error = #expect(throws: DocumentError.self) { try parse(text) }
        #expect(error?.description == words)
        #expect(error?.kind == .malformed)
    }

    @Test func `what is beyond a limit says so, with the document's name`() {
        let deep = #expect(throws: DocumentError.self) { try parse(String(repeating: "[", count: 65)) }
        #expect(deep?.kind == .unsupported)
        #expect(deep?.description == "line 1, column 65: nested deeper than 64 levels")
        let large = #expect(throws: DocumentError.self) {
            try DocumentValue(json: Data(count: DocumentLimits.bytes + 1), as: DocumentSubject("definition"))
        }
        #expect(large?.description == "the definition is larger than 16 MB")
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
