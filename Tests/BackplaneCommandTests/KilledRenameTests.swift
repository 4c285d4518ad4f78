import BackplaneControl
import BackplaneHost
import Foundation
import TestFixtures
import Testing

/// Hosts that are killed while a data access controller gets another name, and its own again: the next host has the
/// data, by either name.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct KilledRenameTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static func manifest(_ controller: String) -> String {
        """
        {"manifestVersion": 1, "plugins": [{"library": "\(BuiltProducts.folder)/libAnnex.so"}],
         "managers": {"Office": {"className": "TicketOffice", "dataAccessController": {\(controller)}}}}
        """
    }
    private static let former = manifest(#""className": "TicketStore""#)
    private static let renamed = manifest(#""className": "TicketArchive", "was": "TicketStore""#)
    private static let bare = manifest(#""className": "TicketArchive""#)

    /// Starts a host, always with a manifest of the same path, to which the data folder belongs, and counts once.
    private func host(_ manifest: String, expecting count: Int, _ seed: UInt64) async throws -> RunningTool {
        let host = try await tool.startRun(try tool.write(manifest, as: "manifest.json"))
        let called = try await tool.plain("call", "Office", "pass", "0", "--running")
        #expect(called.output.filter { !$0.isWhitespace }.contains("\"count\":\(count),"), "seed \(seed): \(called)")
        return host
    }

    @Test(arguments: 0..<20)
    func `no kill loses or doubles the data`(trial: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: trial), manifest = Self.former, count = 0
        let seed = RunSeed.value
        for _ in 0..<4 {
            count += 1
            let host = try await host(manifest, expecting: count, seed)
            let next = manifest == Self.former ? Self.renamed : Self.former
            let path = try tool.write(next, as: "next.json"), socket = tool.sockets + "/host-\(host.number).sock"
            Thread.detachNewThread {
                // It may be answered or not, and either is right.
                _ = try? ControlClient(socket).ask(ApplyRequest(RequestedManifest(path)))
            }
            // The moment of the kill, which is what is drawn.
            try await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &numbers)))
            host.signal(SIGKILL)
            _ = await host.end()
            // Whoever starts the next host may have either manifest in mind.
            if numbers.once(in: 2) { manifest = next }
        }
        for last in [Self.renamed, Self.bare] {
            count += 1
            let host = try await host(last, expecting: count, seed)
            host.signal(SIGKILL)
            _ = await host.end()
        }
    }
}
