import BackplaneDocuments
import FoundationEssentials
import Testing

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
