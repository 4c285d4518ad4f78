import Foundation
import TestFixtures
import Testing

/// What a host says when plugin code ends it.
@Suite(.timeLimit(.minutes(5)))
struct LastWordsTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Worker"}], "managers": {"Worker": {"className": "Worker"}}}"#,
            as: "backplane.json")
    }

    /// Starts a command that makes a host.
    ///
    /// - Parameter backtrace: what Swift's runtime does about a crash: nothing, since its own backtrace takes it many
    ///   seconds.
    private func start(_ arguments: String..., backtrace: String = "enable=no") throws -> RunningTool {
        try RunningTool(
            arguments + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": backtrace])
    }

    /// - Parameter copy: of the plugin in whose code.
    /// - Parameter reason: what is said after the signal.
    private func expectEnd(
        _ outcome: Tool.Outcome, in copy: String, signal: Int32, _ reason: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == -signal, "\(outcome.errors)", sourceLocation: location)
        let lines = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("backplane: signal") }
        let end = "backplane: signal \(signal) (\(Self.names[signal] ?? "")) ends this process\(reason), in "
        #expect(
            lines.count == 1 && lines[0].hasPrefix(end) && lines[0].hasSuffix("\(Self.plugin(of: copy)) (\(copy))"),
            "\(outcome.errors)", sourceLocation: location)
    }

    private static let names = [SIGABRT: "SIGABRT", SIGILL: "SIGILL", SIGSEGV: "SIGSEGV"]

    /// The plugin and the generation in the name of a copy, such as `2-org.example.books-generation-3-libBooks.so`.
    private static func plugin(of copy: String) -> String {
        let parts = copy.split(separator: "-")
        return "\(parts[1]), generation \(parts[3])"
    }

    @Test
    func
        `a host that a trap in a plugin ends names the plugin and its generation, and then is traced as it would have been`()
        async throws
    {
        try tool.writeHostile(["work": "abort()"], as: "libWorker.so")
        let tracer = try tool.write("#!/bin/sh\necho traced >&2\n", as: "tracer")
        try #require(chmod(tracer, 0o700) == 0)
        let outcome = try await start(
            "call", manifest, "Worker", "work", backtrace: "enable=yes,swift-backtrace=\(tracer)"
        ).end()
        expectEnd(outcome, in: "1-org.backplane.tests.hostile-generation-1-libWorker.so", signal: SIGABRT)
        let traced = try #require(outcome.errors.range(of: "traced\n"), "\(outcome.errors)")
        #expect(outcome.errors[..<traced.lowerBound].contains("backplane: signal"), "\(outcome.errors)")
    }

    @Test func `the line of a crash has no secret of the manifest, its variables or the call`() async throws {
        try tool.writeHostile(["work": "abort()"], as: "libWorker.so")
        let path = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Worker"}], "managers": {"Worker": {"className": "Worker"}},
             "network": {"credentials": {
                "fixed": {"hosts": ["a.test"], "type": "bearer", "secret": "planted-token"},
                "basic": {"hosts": ["a.test"], "type": "basic", "user": "ann", "password": "${PASSWORD}"}}}}
            """, as: "secrets.json")
        let outcome = try await RunningTool(
            ["call", path, "Worker", "work", #""planted-input""#, "--data", tool.data, "--load-folder", tool.loads],
            input: nil,
            environment: [
                "XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no", "PASSWORD": "planted-password",
            ]
        ).end()
        expectEnd(outcome, in: "1-org.backplane.tests.hostile-generation-1-libWorker.so", signal: SIGABRT)
        #expect(!(outcome.output + outcome.errors).contains("planted"), "\(outcome.errors)")
        for file in try FileManager.default.subpathsOfDirectory(atPath: tool.folder) where file != "secrets.json" {
            let bytes = FileManager.default.contents(atPath: "\(tool.folder)/\(file)") ?? Data()
            #expect(bytes.firstRange(of: Data("planted".utf8)) == nil, "\(file)")
        }
    }

    @Test func `what falls while it is loaded has the name of its plugin, and the generation that it would have been`()
        async throws
    {
        try tool.writeHostile(as: "libWorker.so")
        let host = try start("run", manifest)
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        try tool.writeHostile(["entered": "abort()"], as: "libWorker.so")
        // Without trust a child process would die of it, and the host refuse it.
        _ = try await tool.plain("swap", "Worker", "--trust")
        expectEnd(
            await host.end(), in: "2-org.backplane.tests.hostile-generation-2-libWorker.so", signal: SIGABRT)
    }

    @Test func `one that has no memory left says that, and a pipe without a reader is an error of the plugin`()
        async throws
    {
        try tool.writeHostile(["work": "leave_no_memory(); abort()"], as: "libWorker.so")
        expectEnd(
            try await start("call", manifest, "Worker", "work").end(),
            in: "1-org.backplane.tests.hostile-generation-1-libWorker.so", signal: SIGABRT,
            ", which has no memory left")
        try tool.writeHostile(["work": "write_to_closed_pipe()"], as: "libWorker.so")
        let outcome = try await start("call", manifest, "Worker", "work").end()
        #expect(outcome.status == 0 && outcome.output == "1\n", "\(outcome.status) \(outcome.errors)")
    }

    @Test(.enabled(if: TerminalRun.isPossible, "there are no terminals"))
    func `at a terminal the process ends after that line, unless a backtrace is asked for`() async throws {
        try tool.writeHostile(["work": "abort()"], as: "libWorker.so")
        let command =
            "env -u SWIFT_BACKTRACE \(BuiltProducts.folder)/backplane call \(manifest) Worker work --data \(tool.data) --load-folder \(tool.loads)"
        let run = try TerminalRun("\(command); echo ended $?", environment: ["XDG_RUNTIME_DIR": tool.folder])
        #expect(await run.says("ended 134"), "\(run.text)")
        #expect(run.text.contains("backplane: signal 6 (SIGABRT) ends this process"), "\(run.text)")
        #expect(!run.text.contains("Thread 0"), "\(run.text)")
    }
}
