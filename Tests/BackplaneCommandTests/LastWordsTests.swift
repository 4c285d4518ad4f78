import Foundation
import Testing

/// What a host says last when plugin code ends it.
@Suite(.timeLimit(.minutes(5)))
struct LastWordsTests {
    private static let hostile = "org.backplane.tests.hostile 1.0.0 (libWorker.so), generation"
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Worker"}], "managers": {"Worker": {"className": "Worker"}}}"#, as: "backplane.json")
    }

    /// - Parameter by: in whose code.
    private func expectEnd(_ outcome: Tool.Outcome, by name: String, signal: Int32, certain: Bool = true, _ location: SourceLocation = #_sourceLocation) {
        #expect(outcome.status == -signal, "\(outcome.errors)", sourceLocation: location)
        #expect(
            outcome.errors.split(separator: "\n").last == "backplane: signal \(signal) ends this process, \(certain ? "" : "probably ")in code of \(name)",
            "\(outcome.errors)", sourceLocation: location)
    }

    @Test func `a host that a trap in a plugin ends names the plugin and its generation in its last line`() async throws {
        try tool.compile("Corpus/method.c", "-DABORTS", as: "libWorker.so")
        let sound = try await tool.run("call", manifest, "Worker", "rest")
        #expect(sound.status == 0 && sound.output == "1\n", "\(sound.errors)")
        expectEnd(try await tool.run("call", manifest, "Worker", "work"), by: "\(Self.hostile) 1", signal: SIGABRT)
    }

    @Test func `one that has returned is not named for what its caller does afterwards`() async throws {
        for (source, name) in [("innocent.c", "libInnocent.so"), ("guilty.c", "libGuilty.so")] { try tool.compile("Words/" + source, "-O1", as: name) }
        let both = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Innocent"}, {"library": "Guilty"}],
             "managers": {"Innocent": {"className": "Innocent"}, "Guilty": {"className": "Guilty", "uses": {"innocent": "Innocent"}}}}
            """, as: "both.json")
        expectEnd(
            try await tool.run("call", both, "Guilty", "work"), by: "org.backplane.tests.guilty 1.0.0 (libGuilty.so), generation 1", signal: SIGSEGV)
    }

    @Test func `where no frame leads on, a plugin whose code stands on the stack is named as probable`() async throws {
        try tool.compile("Words/words.c", "-DNOWHERE", as: "libWorker.so")
        expectEnd(try await tool.run("call", manifest, "Worker", "work"), by: "\(Self.hostile) 1", signal: SIGSEGV, certain: false)
    }

    @Test func `when several threads fall at once, the first says whose they were before any ends the process`() async throws {
        try tool.compile("Words/words.c", "-DCROWD", as: "libWorker.so")
        for _ in 0..<5 { expectEnd(try await tool.run("call", manifest, "Worker", "work"), by: "\(Self.hostile) 1", signal: SIGSEGV) }
    }

    @Test func `what falls while it is loaded has the name of its plugin, and the generation that it would have been`() async throws {
        try tool.compile("Corpus/good.c", as: "libWorker.so")
        let host = try await tool.startRun(manifest)
        try tool.compile("Corpus/entry.c", "-DABORTS", as: "libWorker.so")
        _ = try await tool.plain("swap", "Worker")
        expectEnd(await host.end(), by: "\(Self.hostile) 2", signal: SIGABRT)
        expectEnd(try await tool.run("call", manifest, "Worker", "rest"), by: "\(Self.hostile) 1", signal: SIGABRT)
    }

    @Test func `a line break in a library's name neither hides the plugin nor breaks the line`() async throws {
        try tool.compile("Corpus/method.c", "-DABORTS", as: "libWor\nker.so")
        let odd = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(tool.folder)/libWor\nker.so"}], "managers": {"Worker": {"className": "Worker"}}}"#, as: "odd.json")
        expectEnd(
            try await tool.run("call", odd, "Worker", "work"), by: #"org.backplane.tests.hostile 1.0.0 (libWor\012ker.so), generation 1"#, signal: SIGABRT)
    }

    @Test func `a plugin that writes to a pipe that nobody reads is told so, and ends nobody`() async throws {
        try tool.compile("Words/words.c", "-DCLOSED_PIPE", as: "libWorker.so")
        let outcome = try await tool.run("call", manifest, "Worker", "work")
        #expect(outcome.status == 0 && outcome.output == "false\n", "\(outcome.status) \(outcome.errors)")
    }
}

extension Tool {
    /// Compiles a file of Tests/Plugins/Hostile to a library in the test's folder.
    fileprivate func compile(_ source: String, _ flags: String..., as name: String) throws {
        let compiler = Process(), root = Tool.manifests + "/.."
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-pthread", "-I", root + "/Sources/CBackplane/include", "-o", "\(folder)/\(name)", "\(root)/Tests/Plugins/Hostile/\(source)"] + flags
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
    }
}
