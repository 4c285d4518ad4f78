import BackplaneDocuments
import Testing

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
