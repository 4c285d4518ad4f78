import TestFixtures
import Testing

/// What the README and the page on testing say a reader can write and run, followed literally.
///
/// In the build without engines only: it builds plugins and a program of their own, and once is enough.
#if !Engines
@Suite(.timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test func `a plugin and a host, from nothing, say what the README says`() async throws {
        let tool = try Tool()
        let (_, outputs) = try Reader(in: tool.folder, with: tool).follow(Page("README.md").blocks)
        #expect(outputs == 2, "the README shows what two runs print")
    }

    @Test func `a plugin and its tests, from nothing, pass as the page on testing says`() async throws {
        let tool = try Tool()
        let (printed, _) = try Reader(in: tool.folder, with: tool).follow(Page("docs/testing.md").blocks)
        #expect(printed.contains("it greets by the hour") && printed.contains("1 test"), "\(printed)")
    }
}
#endif
