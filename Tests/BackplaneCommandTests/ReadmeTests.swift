import TestFixtures
import Testing

/// What the README and the page on testing say a reader can write and run, followed literally.
@Suite(.timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test func `a plugin and a host, from nothing, say what the README says`() async throws {
        let tool = try Tool()
        let reader = try Reader(in: tool.folder, with: tool), (_, outputs) = try reader.follow(Page("README.md").blocks)
        #expect(outputs == 2, "the README shows what two runs print")
        #expect(try reader.fetched() == [])
    }

    @Test func `a plugin and its tests, from nothing, pass as the page on testing says`() async throws {
        let tool = try Tool()
        let reader = try Reader(in: tool.folder, with: tool), (printed, _) = try reader.follow(Page("docs/testing.md").blocks)
        #expect(printed.contains("it greets by the hour") && printed.contains("1 test"), "\(printed)")
        #expect(try reader.fetched() == [])
    }
}
