import Foundation
import TestFixtures
import Testing

/// The command where the system gives it few open files: it answers, or says what it lacks, and never dies.
@Suite(.nightly, .timeLimit(.minutes(20)))
struct ScarceMeansTests {
    /// Runs a command through a shell that sets a limit first.
    private func run(_ limit: String, _ tool: Tool, _ arguments: [String]) async throws -> Tool.Outcome {
        let command = ([BuiltProducts.folder + "/backplane"] + arguments + ["--load-folder", tool.loads])
            .map { "'\($0)'" }.joined(separator: " ")
        let process = try RunningTool(
            ["-c", "\(limit); exec \(command)"], of: "/bin/sh", input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"])
        // A host that is up stays until it is told to stop.
        if arguments[0] == "run", await process.says("up;") { process.signal(SIGTERM) }
        return await process.end()
    }

    /// - Returns: whether it answered.
    private func expectAnswer(
        _ limit: String, _ tool: Tool, _ arguments: [String], location: SourceLocation = #_sourceLocation
    ) async throws -> Bool {
        let outcome = try await run(limit, tool, arguments)
        #expect(
            [0, 1].contains(outcome.status),
            "\(limit): \(arguments[0]) ended with \(outcome.status): \(outcome.errors)",
            sourceLocation: location)
        guard outcome.status != 0 else { return true }
        #expect(
            ["host.exhausted", "Too many open files", "cannot be started a second time"].contains {
                (outcome.output + outcome.errors).contains($0)
            },
            "\(limit): \(arguments[0]) said \(outcome.output)\(outcome.errors)", sourceLocation: location)
        return false
    }

    private static let call = ["call", Tool.almanac, "AlmanacManager", "on", "\"07-20\""]
    private static let check = ["check", Tool.almanac]
    private static let host = ["run", Tool.almanac]
    private static let inspect = ["inspect", BuiltProducts.folder + "/libClock.so"]

    @Test(arguments: [call, check, host, inspect])
    func `few open files`(_ arguments: [String]) async throws {
        let tool = try Tool(), rest = arguments[0] == "inspect" ? [] : ["--data", tool.data]
        for limit in 10...30 { _ = try await expectAnswer("ulimit -n \(limit)", tool, arguments + rest) }
        // Foundation takes descriptors above 200 for a child process, and some are inherited from the tests.
        #expect(try await expectAnswer("ulimit -n \(rest.isEmpty ? 1024 : 48)", tool, arguments + rest))
    }
}
