import Backplane
import BackplaneHost
import Testing

struct VersionRangeTests {
    @Test(arguments: [
        ("[1.2,2.0)", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0"]),
        ("(1.2,2.0]", ["1.2.1", "2.0.0"], ["1.2.0", "2.0.1"]),
        ("[1.2]", ["1.2.0"], ["1.2.1", "1.1.9"]),
        ("[1.2,)", ["1.2.0", "99.0.0"], ["1.1.0"]),
        ("(,2)", ["0.0.1", "1.9.9"], ["2.0.0"]),
        ("[ 1.2 , 2.0 )", ["1.2.0"], ["2.0.0"]),
    ])
    func `an interval holds what is between its ends`(text: String, inside: [Version], outside: [Version]) throws {
        let range = try VersionRange(text)
        #expect(inside.filter { !range.contains($0) } == [])
        #expect(outside.filter { range.contains($0) } == [])
    }

    @Test func `a literal is a range, where a range is expected`() {
        let range: VersionRange = "[1.2,2.0)"
        #expect(
            range == VersionRange(lower: .init("1.2.0", isIncluded: true), upper: .init("2.0.0", isIncluded: false)))
        let definition = ManagerDefinition(className: "LibraryManager", version: "[1.2]")
        #expect(definition.version?.contains("1.2.0") == true && definition.version?.contains("1.2.1") == false)
    }

    @Test func `a version alone is refused with a hint`() {
        let text = "1.2"
        let error = #expect(throws: VersionRange.Malformed.self) { try VersionRange(text) }
        #expect(
            error?.description
                == "`1.2` is one version, not a range; write `[1.2,2.0)` for every compatible version, or `[1.2]` for this one alone"
        )
    }

    @Test(arguments: [
        "", "[", "[]", "1.2,2.0", "[1.2,2.0", "(1.2)", "[2.0,1.0]", "[1.0,1.0)", "[a,b]", "[1,2,3]", "^1.2", ">=1.0",
        "1.x",
    ])
    func `what is no interval is refused`(text: String) {
        #expect(throws: VersionRange.Malformed.self) { try VersionRange(text) }
    }

    @Test(arguments: ["[1.2.0,2.0.0)", "(1.0.0,2.0.0]", "[1.2.0]", "[1.2.0,)", "(,2.0.0)"])
    func `a range is printed as it is written`(text: String) throws {
        #expect(try VersionRange(text).description == text)
        #expect(try VersionRange(VersionRange(text).description) == VersionRange(text))
    }
}
