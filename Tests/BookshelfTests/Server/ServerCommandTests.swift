#if Engines
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ServerCommandTests {
    @Test func `help has examples and every option`() async throws {
        let (status, text) = try await run("--help")
        #expect(status == 0)
        let words = [
            "EXAMPLES", "--port", "--catalogue", "--reader", "--password", "--token-lifetime", "--delay",
            "--stop-with-parent",
        ]
        for word in words { #expect(text.contains(word), "\(word)") }
    }

    @Test(arguments: [
        ["--port", "65536"], ["--port", "-1"], ["--token-lifetime", "-1"], ["--delay", "-1"], ["--delay", "600001"],
        ["--colour"],
    ])
    func `what cannot be is refused and named`(arguments: [String]) async throws {
        let (status, text) = try await run(arguments)
        #expect(status == 64)
        #expect(text.contains(arguments[0]))
    }

    @Test func `a port that is taken is named`() async throws {
        try await RunningServer.run { server in
            let (status, text) = try await run("--port", "\(server.port)")
            #expect(status == 1)
            #expect(text == "Error: cannot listen on 127.0.0.1:\(server.port): Address already in use\n")
        }
    }

    @Test func `a catalogue that cannot be read is named`() async throws {
        let (status, text) = try await run("--catalogue", "/nowhere/books.json")
        #expect(status == 1)
        #expect(text.hasPrefix("Error: the catalogue cannot be served: /nowhere/books.json: "))
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, text: String) {
        try await run(arguments)
    }

    /// Runs a server that does not get to serve, and gives all that it printed.
    private func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = RunningServer.executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        var status: Int32 = -1
        for await code in ends { status = code }
        return (status, String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self))
    }
}
#endif
