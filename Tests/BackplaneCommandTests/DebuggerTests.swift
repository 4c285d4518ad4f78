import Foundation
import TestFixtures
import Testing

/// Breakpoints of gdb in plugins. `make` installs gdb.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct DebuggerTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// gdb, whose absence is a failure: a machine that tests this project has it.
    private static let debugger = ["/usr/bin/gdb", "/usr/local/bin/gdb"].first(
        where: FileManager.default.isExecutableFile)

    /// A line of the almanac's manager that each call of `on` runs.
    private static func line() throws -> Int {
        let path = Tool.manifests + "/../Plugins/Almanac/AlmanacManager.swift"
        let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        return try #require(lines.firstIndex { $0.contains("let events = try await events(call)") }) + 1
    }

    @Test func `a breakpoint set before a plugin is loaded is hit there, and again in the next generation`()
        async throws
    {
        let debugger = try #require(Self.debugger, "gdb is missing; `make` installs it")
        let library = tool.folder + "/libAlmanac.so"
        try FileManager.default.copyItem(atPath: BuiltProducts.folder + "/libAlmanac.so", toPath: library)
        let events = #"{"day": "07-20", "year": 1969, "text": "Apollo 11 lands on the Moon"}"#
        try tool.write("[\(events)]", as: "events.json")
        let manifest = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "\(library)"}], "managers": {"Almanac": {
              "className": "AlmanacManager", "dataAccessController": {"className": "AlmanacStore"},
              "communicationController": {"className": "AlmanacCommunication", "services": [
                {"className": "EventFeedService", "propertyName": "feed",
                 "networkServiceConfiguration": {"url": "file:events.json"}}]}}}}
            """, as: "backplane.json")
        let script = try tool.write(
            """
            set pagination off
            set breakpoint pending on
            set print thread-events off
            handle SIGTERM nostop noprint pass
            break AlmanacManager.swift:\(Self.line())
            commands
            silent
            printf "hit in "
            info symbol $pc
            continue
            end
            run
            """, as: "script.gdb")
        let session = try RunningTool(
            // Threads of Swift's pool block signals, which a child inherits, and gdb waits for SIGCHLD.
            [
                "--default-signal", debugger, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-x", script,
                "--args",
                BuiltProducts.folder + "/backplane", "run", manifest, "--data", tool.data, "--load-folder", tool.loads,
            ], of: "/usr/bin/env", input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"])
        try #require(await session.says("1 manager up;"), "\(session.output)\(session.errors)")
        let process = try #require(
            session.output.firstMatch(of: /host-([0-9]+)\.sock/).flatMap { Int32($0.1) }, "\(session.output)")
        // Whatever happens, the application does not outlive the test.
        defer { kill(process, SIGKILL) }

        let first = try await tool.plain("call", "Almanac", "on", #""07-20""#, "--running")
        #expect(first.status == 0 && first.output.contains("Apollo 11"), "\(first.errors)")
        #expect(await session.says("generation-1-libAlmanac.so"), "\(session.output)")

        // Another build: the same code, with one more byte behind it.
        var bytes = try Data(contentsOf: URL(filePath: library))
        bytes.append(0)
        try bytes.write(to: URL(filePath: library), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: library)
        let swap = try await tool.plain("swap", library)
        try #require(swap.status == 0, "\(swap.output)\(swap.errors)")
        let second = try await tool.plain("call", "Almanac", "on", #""07-20""#, "--running")
        #expect(second.status == 0 && second.output.contains("Apollo 11"), "\(second.errors)")
        #expect(await session.says("org.backplane.almanac-generation-2-libAlmanac.so"), "\(session.output)")

        kill(process, SIGTERM)
        let outcome = await session.end()
        #expect(outcome.output.contains("exited normally"), "\(outcome.output)")
        let hits = outcome.output.split(separator: "\n").filter { $0.contains("hit in ") }
        #expect(hits.contains { $0.contains("generation-1-") } && hits.contains { $0.contains("generation-2-") })
    }
}
