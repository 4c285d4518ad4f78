import TestFixtures
import Testing

/// What the README and the page on testing say a reader can write and run, followed literally.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test func `a plugin and a host, from nothing, say what the README says`() async throws {
        let packages = try PackagesFolder(),
            (_, outputs) = try Reader(in: packages, with: Tool()).follow(Page("README.md").blocks)
        #expect(outputs == 2, "the README shows what two runs print")
        #expect(packages.fetched() == ["swift-argument-parser"])
    }

    @Test func `a plugin and its tests, from nothing, pass as the page on testing says`() async throws {
        let packages = try PackagesFolder(),
            (printed, _) = try Reader(in: packages, with: Tool()).follow(Page("docs/testing.md").blocks)
        #expect(printed.contains("it greets by the hour") && printed.contains("1 test"), "\(printed)")
        #expect(packages.fetched() == ["swift-argument-parser"])
    }
}
