import Backplane
import Testing

@Suite struct VersionTests {
    @Test(arguments: [
        ("1", "1.0.0"), ("1.2", "1.2.0"), ("1.2.3", "1.2.3"), ("0.0.0", "0.0.0"), ("10.20.30", "10.20.30"),
    ])
    func `one to three numbers are a version`(text: String, expected: String) {
        #expect(Version(text)?.description == expected)
    }

    @Test(arguments: [
        "", ".", "1.", ".1", "1..2", "1.2.3.4", "v1", "1.2-beta", "-1", "+1", " 1", "1.2 ", "١", "99999999999999999999",
        "9223372036854775807",
    ])
    func `anything else is none`(text: String) {
        #expect(Version(text) == nil)
    }

    @Test func `versions compare number by number, not letter by letter`() {
        #expect(Version("1.9") < "1.10")
        #expect(Version("1.10") < "2.0")
        #expect(Version("1.2.3") < "1.2.4")
        #expect(Version("1.2") == "1.2.0")
    }

    @Test(arguments: [
        ("1.4.0", "1.2.0", true), ("1.2.0", "1.2.0", true), ("1.1.9", "1.2.0", false), ("2.0.0", "1.2.0", false),
        ("1.2.0", "2.0.0", false),
    ])
    func `a contract serves users of the same major version that need no later one`(
        provided: String, needed: String, serves: Bool
    ) throws {
        #expect(try #require(Version(provided)).serves(try #require(Version(needed))) == serves)
    }
}
