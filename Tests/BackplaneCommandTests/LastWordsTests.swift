import Foundation
import Testing

/// What a host says last when plugin code ends it.
@Suite(.timeLimit(.minutes(5)))
struct LastWordsTests {
    @Test func `a host that a trap in a plugin ends names the plugin and its generation in its last line`() async throws {
        let tool = try Tool()
        try tool.compile("Tests/Plugins/Hostile/Corpus/method.c", "-DABORTS", as: "libWorker.so")
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Worker"}], "managers": {"Worker": {"className": "Worker"}}}"#, as: "backplane.json")
        let sound = try await tool.run("call", manifest, "Worker", "rest")
        #expect(sound.status == 0 && sound.output == "1\n", "\(sound.errors)")
        let outcome = try await tool.run("call", manifest, "Worker", "work")
        #expect(outcome.status == -SIGABRT)
        #expect(
            outcome.errors.split(separator: "\n").last
                == "backplane: signal \(SIGABRT) ends this process, in code of org.backplane.tests.hostile 1.0.0 (libWorker.so), generation 1",
            "\(outcome.errors)")
    }
}

extension Tool {
    /// Compiles a file of this package to a library in the test's folder.
    func compile(_ source: String, _ flags: String..., as name: String) throws {
        let compiler = Process(), root = Tool.manifests + "/.."
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-pthread", "-I", root + "/Sources/CBackplane/include", "-o", "\(folder)/\(name)", "\(root)/\(source)"] + flags
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
    }
}
