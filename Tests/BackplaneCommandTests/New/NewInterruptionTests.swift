import Foundation
import TestFixtures
import Testing

/// `backplane new` that is stopped while SwiftPM looks at what it has written.
@Suite(.timeLimit(.minutes(5)))
struct NewInterruptionTests {
    private let tool: Tool
    private let root: String
    private let package = """
        // swift-tools-version: 6.3
        import PackageDescription
        let package = Package(name: "a", products: [], dependencies: [], targets: [])

        """
    private let manifest = "{\"manifestVersion\": 1, \"managers\": {}}"

    init() throws {
        tool = try Tool()
        root = tool.folder + "/here"
        for folder in [root, tool.folder + "/bin"] { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }
        try Data(package.utf8).write(to: URL(filePath: root + "/Package.swift"))
        try Data(manifest.utf8).write(to: URL(filePath: root + "/backplane.json"))
    }

    /// Starts it with a SwiftPM that never ends once something was added, and waits until it is at that.
    private func startPlugin(onSignals: String) async throws -> RunningTool {
        // It says so where the command itself does: the process that has started it.
        let swift = """
            #!/bin/sh
            if ! grep -q TidesModule '\(root)/Package.swift'; then PATH="${PATH#*:}" exec swift "$@"; fi
            trap '\(onSignals)' INT
            echo "looking, process $$" > /proc/$PPID/fd/2
            while :; do read line < '\(tool.folder)/never'; done

            """
        try Data(swift.utf8).write(to: URL(filePath: tool.folder + "/bin/swift"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.folder + "/bin/swift")
        try #require(mkfifo(tool.folder + "/never", 0o600) == 0)
        let path = "\(tool.folder)/bin:\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let running = try RunningTool(["new", "plugin", "Tides", "--backplane", Page.root.path], input: nil, environment: ["PATH": path], in: root)
        try #require(await running.logs("looking, process "), "\(running.errors)")
        #expect(try String(contentsOfFile: root + "/Package.swift", encoding: .utf8).contains("TidesModule"))
        return running
    }

    private func expectUntouched(_ location: SourceLocation = #_sourceLocation) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: root).filter { !$0.hasPrefix(".build") }.sorted()
        #expect(names == ["Package.swift", "backplane.json"], sourceLocation: location)
        #expect(try String(contentsOfFile: root + "/Package.swift", encoding: .utf8) == package, sourceLocation: location)
        #expect(try String(contentsOfFile: root + "/backplane.json", encoding: .utf8) == manifest, sourceLocation: location)
    }

    @Test(arguments: [(SIGINT, 130, "SIGINT"), (SIGTERM, 143, "SIGTERM"), (SIGHUP, 129, "SIGHUP")] as [(Int32, Int32, String)])
    func `everything is as it was, and SwiftPM has ended`(signal: Int32, status: Int32, name: String) async throws {
        let running = try await startPlugin(onSignals: "exit 1")
        running.signal(signal)
        let outcome = await running.end()
        #expect(outcome.status == status)
        #expect(outcome.errors.hasSuffix("\nbackplane: \(root): new.interrupted: \(name) came before it was done; what was put in was taken out again\n"), "\(outcome.errors)")
        #expect(outcome.output == "")
        try expectUntouched()
        let child = try #require(outcome.errors.firstMatch(of: /looking, process (\d+)/).flatMap { pid_t($0.output.1) })
        #expect(kill(child, 0) == -1 && errno == ESRCH)
    }

    @Test func `a SwiftPM that does not stop is stopped`() async throws {
        let running = try await startPlugin(onSignals: "")
        running.signal(SIGINT)
        let outcome = await running.end()
        #expect(outcome.status == 130 && outcome.errors.contains("new.interrupted"))
        try expectUntouched()
    }
}
