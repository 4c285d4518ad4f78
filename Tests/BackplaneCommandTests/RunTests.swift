import Foundation
import Testing

/// `backplane run`: up, until a signal.
@Suite(.timeLimit(.minutes(10)))
struct RunTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: [SIGTERM, SIGINT])
    func `it says what is up, and stops in order when it is asked to`(signal: Int32) async throws {
        let running = try await tool.startRun(Tool.almanac, "--log-level", "debug")
        let table = running.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(table[0] == ["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"])
        #expect(table[1] == ["AlmanacManager", "AlmanacManager", "1.0.0", "org.backplane.almanac", "ready"])
        #expect(table[2] == ["ClockManager", "ClockManager", "1.0.0", "org.backplane.clock", "ready"])
        #expect(tool.loadFolders().count == 1)

        running.signal(signal)
        let outcome = await running.end()

        #expect(outcome.status == 0)
        #expect(outcome.output.hasSuffix("\(signal == SIGINT ? "SIGINT" : "SIGTERM"): stopping\nstopped\n"))
        #expect(tool.loadFolders() == [])
        let stopped = outcome.errors.split(separator: "\n").filter { $0.contains("stopped") }
        #expect(stopped.count == 5, "\(outcome.errors)")
        // The clock came up beside the almanac, at whatever moment.
        let order = ["AlmanacManager", "AlmanacCommunication", "EventFeedService", "AlmanacStore"]
        for (line, name) in zip(stopped.filter { !$0.contains("component=ClockManager") }, order) {
            #expect(line.contains("component=\(name)"), "\(line)")
        }
    }

    @Test func `it refuses a manifest with an error, and names all of them`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"Clock": {"className": "ClockManager"}, "A": {"className": "X"}, "B": {}}}"#,
            as: "m.json")
        let outcome = try await tool.run("run", path)
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.contains("/managers/A/className") && outcome.errors.contains("/managers/B/className"))
        #expect(tool.loadFolders() == [])
    }

    @Test func `a component that does not start ends it, what is up being stopped`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"A": {"className": "ChallengeManager"}, "B": {"className": "TrialManager", "configuration": {"refusesToStart": true}}}}"#,
            as: "m.json")
        let outcome = try await tool.run("run", path, "--log-level", "info")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.contains("/managers/B: component.failed (trial.trouble): not today"))
        #expect(outcome.errors.contains("stop"), "A was up and has stopped")
    }

    @Test func `a signal while a start hangs gives it up, and what is up stops in order`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"A": {"className": "ChallengeManager"}, "B": {"className": "TrialManager", "configuration": {"neverStarts": true}}}}"#,
            as: "m.json")
        let running = try tool.start([
            "run", path, "--data", tool.data, "--load-folder", tool.loads, "--log-level", "debug",
        ])
        // The host's own line: before it A itself might be given up.
        #expect(await running.logs("component=A"))
        running.signal(SIGINT)
        let outcome = await running.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "SIGINT: stopping\nstopped\n")
        #expect(outcome.errors.contains("stop"), "A was up and has stopped")
        #expect(tool.loadFolders() == [])
    }
}
