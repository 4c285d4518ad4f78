#if Engines
import BackplaneTestKit
import Foundation
import Testing

/// `backplane demo` and the command line against the running server, as a newcomer runs them.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func run(
        _ arguments: [String], input: FileHandle = .nullDevice, meanwhile: (Process) -> Void = { _ in }
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        process.executableURL = URL(filePath: Bookshelf.built + "/backplane")
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: Bookshelf.manifests).deletingLastPathComponent()
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        try process.run()
        meanwhile(process)
        // Both are short: neither pipe is ever full.
        let text = try output.fileHandleForReading.readToEnd() ?? Data(),
            told = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self), String(decoding: told, as: UTF8.self))
    }

    @Test func `the demo goes through to its last line, leaves nothing behind, and offers screens`() throws {
        let demo = try run(["demo"])
        #expect(demo.status == 0, "\(demo.errors)")
        #expect(demo.errors.isEmpty)
        let network = try #require(demo.output.range(of: "from: network")),
            store = try #require(demo.output.range(of: "from: store"))
        #expect(network.upperBound < store.lowerBound)
        #expect(demo.output.contains("is ours for 14 days"))
        #expect(
            demo.output.contains("Herman Melville (1819–1891)") && demo.output.contains(/Herman Melville  +1851/),
            "both versions answer")
        let callers = demo.output.matches(
            of: /caller ([1-4]): ([0-9]+) calls answered, 0 failed, 0 made twice, 0 by the wrong code/)
        #expect(callers.count == 4 && callers.allSatisfy { (Int($0.output.2) ?? 0) > 0 })
        #expect(demo.output.contains(/to [0-9]+, and 0 calls are missing/))
        #expect(demo.output.contains("nothing is left behind"))
        let place = try #require(demo.output.firstMatch(of: /process ([0-9]+), http/)?.output.1)
        #expect(kill(try #require(Int32(place)), 0) == -1, "the server has ended")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])

        let offer = try #require(demo.output.split(separator: "\n").last).split(separator: " ").map(String.init)
        #expect(offer.first == Bookshelf.built + "/backplane" && offer.contains("--web"))
        let input = Pipe()
        try input.fileHandleForWriting.write(contentsOf: Data("q\n".utf8))
        try input.fileHandleForWriting.close()
        // As it stands, but here.
        let screens = try run(
            offer.dropFirst().map { $0 == "--web" ? "--terminal" : $0 } + [
                "--no-control", "--data", folder.data, "--load-folder", folder.path + "/loads",
            ], input: input.fileHandleForReading)
        #expect(screens.status == 0, "\(screens.errors)")
        #expect(screens.output.hasPrefix("(Catalogue)  1) Loans"), "\(screens.output)")
    }

    @Test func `a demo that is interrupted leaves nothing behind either`() async throws {
        let demo = try run(["demo"]) { process in
            // From when its folder is there on; on a fast machine it may end by itself first.
            while process.isRunning,
                (try? FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty) != false
            {}
            process.interrupt()
        }
        #expect([0, 130].contains(demo.status), "\(demo.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `a search on the command line is answered by the server, and once it is gone from what was kept`()
        async throws
    {
        let manifest = folder.path + "/bookshelf.json"
        func search() throws -> (status: Int32, output: String, errors: String) {
            try run([
                "call", manifest, "LibraryManager", "search", #"{"text": "whale"}"#, "--data", folder.data,
                "--load-folder", folder.path + "/loads", "--plugin-path", Bookshelf.built,
            ])
        }
        try await RunningServer.run { server in
            let text = try String(contentsOfFile: Bookshelf.manifests + "/bookshelf.json", encoding: .utf8)
            try text.replacing("http://127.0.0.1:8484", with: server.url).write(
                toFile: manifest, atomically: true, encoding: .utf8)
            let first = try search()
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.output.contains(#""source":"network""#) && first.output.contains("Moby-Dick"))
        }
        let second = try search()
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.contains(#""source":"store""#) && second.output.contains("Moby-Dick"))
    }
}
#endif
