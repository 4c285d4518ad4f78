import Foundation
import Testing

/// Streams that `backplane call` reads until it is interrupted.
@Suite(.timeLimit(.minutes(10)))
struct InterruptedStreamTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func `control-C ends the reading of a stream, and its body in the host that runs`() async throws {
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Parity"}], "managers": {"Sequences": {"className": "SequencesManager"}}}"#,
            as: "sequences.json")
        let host = try await tool.startRun(manifest)
        let reader = try tool.start(["call", "Sequences", "endless", "--running"])
        #expect(await reader.line(0) == "0", "\(reader.errors)")
        let reading = try await tool.plain("stats")
        #expect(reading.output.contains(/Sequences +1 +1 +[0-9]+/), "\(reading.output)")
        reader.signal(SIGINT)
        #expect(await reader.end().status == 130)
        // The host learns of it from the connection.
        var stats = ""
        for _ in 0..<200 where !stats.contains(/Sequences +0 +1 +[0-9]+/) {
            stats = try await tool.plain("stats").output
        }
        #expect(stats.contains(/Sequences +0 +1 +[0-9]+/), "\(stats)")
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)

        let own = try tool.start([
            "call", manifest, "Sequences", "endless", "--data", tool.data, "--load-folder", tool.loads,
        ])
        #expect(await own.line(0) == "0", "\(own.errors)")
        own.signal(SIGINT)
        #expect(await own.end().status == 130)
        #expect(tool.loadFolders() == [], "its host has stopped")
    }
}
