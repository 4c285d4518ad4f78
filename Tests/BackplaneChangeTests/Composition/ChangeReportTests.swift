import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a change says it has done, and what is told to those who kept something from before.
@Suite(.timeLimit(.minutes(5)))
struct ChangeReportTests {
    @Test func `a manifest that is refused leaves no folder behind`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)])
        try await peerHost.host.start()
        let bad: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "Clock"]], "managers": ["B": ["className": "Missing"]],
        ]
        for _ in 0..<3 { #expect(await error { try await peerHost.host.apply(ManifestDocument(bad)) } != nil) }
        #expect(peerHost.test.loadFolders() == [])
        await peerHost.host.stop()
        #expect(peerHost.test.loadFolders() == [])
    }
}
