import Glibc
import Testing

/// `backplane` as a build without engines has it, where `BACKPLANE_PACKAGE_FREE` names the folder of one.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: Tool.packageFree != nil, "set BACKPLANE_PACKAGE_FREE to .build-plain/debug"))
struct PackageFreeToolTests {
    private let tool: Tool

    init() throws { tool = try Tool(of: try #require(Tool.packageFree) + "/backplane") }

    @Test func `it explains itself`() async throws {
        let outcome = try await tool.plain("--help")
        #expect(outcome.status == 0 && outcome.errors == "")
        for command in ["run", "call", "check"] { #expect(outcome.output.contains("backplane \(command) [MANIFEST]")) }
    }

    @Test(arguments: [
        [], ["fly"], ["swap", "Clock"], ["run", Tool.almanac, "more"], ["check", Tool.almanac, "--fast"],
        ["call", Tool.almanac],
        ["call", Tool.almanac, "ClockManager", "now", "null", "more"], ["check", Tool.almanac, "--data"],
    ])
    func `arguments that it does not understand are exit code 64, and nothing on standard output`(arguments: [String])
        async throws
    {
        let outcome = try await tool.start(arguments).end()
        #expect(outcome.status == 64 && outcome.output == "")
        #expect(
            outcome.errors.hasPrefix("backplane: ") && outcome.errors.contains("backplane run [MANIFEST]"),
            "\(outcome.errors)")
    }

    @Test func `a manifest is checked`() async throws {
        let sound = try await tool.run("check", Tool.almanac)
        #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"Broken": {"className": "NoSuchClass"}}}"#,
            as: "broken.json")
        let broken = try await tool.run("check", path)
        #expect(
            broken.status == 1 && broken.output.contains("no plugin registers a class `NoSuchClass`"),
            "\(broken.output)")
    }

    @Test func `a manager is called`() async throws {
        let outcome = try await tool.run("call", Tool.almanac, "AlmanacManager", "on", "\"07-20\"")
        #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome.errors)")
    }

    @Test func `an application runs until it is stopped`() async throws {
        let running = try await tool.startRun(Tool.almanac)
        running.signal(SIGTERM)
        let outcome = await running.end()
        #expect(outcome.status == 0 && outcome.output.hasSuffix("SIGTERM: stopping\nstopped\n"), "\(outcome.output)")
    }
}
