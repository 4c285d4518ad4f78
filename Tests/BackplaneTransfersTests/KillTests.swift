import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTransfers

/// A process that is killed while it downloads, and the next one, which goes on.
@Suite(.timeLimit(.minutes(10)))
struct KillTests {
    private let fixture: TransferFixture

    init() throws { fixture = try TransferFixture() }

    /// The bytes that the store says the disk has.
    private func claimed() async throws -> Int {
        let store = try SQLiteRecordStore(folder: fixture.folder, durability: .normal) { Issue.record($0) }
        let page = try await store.read(.init(collection: "transfers", ids: ["whale"]), in: "@transfers")
        let record = try #require(page.records.first)
        return Int(try JSONDecoder().decode(TransferTable.Entry.self, from: Data(record.value)).synced)
    }

    @Test func `after each kill the download goes on, and fetches little twice`() async throws {
        let kills = Nightly.count(8, night: 20), count = 24 << 20, content = TransferFixture.content(count)
        var random = SeededNumbers(RunSeed.value)
        // The server stops after as many bytes of each answer, so that it is known how far the process got.
        let places = (0..<kills).map { _ in Int.random(in: 1..<1 << 20, using: &random) }
        let server = try FileServer(content) { reply, number in
            if number <= kills { reply.stall = places[number - 1] }
        }
        for (kill, place) in places.enumerated() {
            let worker =
                try kill == 0
                ? WorkerProcess("begin", fixture.folder, server.url(), fixture.path())
                : WorkerProcess("go", fixture.folder)
            var had = 0
            repeat {
                guard worker.read() else { break }
                guard server.counts.ranges.count > kill else { continue }
                had = place + (Int(server.counts.ranges[kill].dropFirst("bytes=".count).dropLast()) ?? 0)
            } while had == 0 || !worker.text.contains("running \(had)\n")
            worker.kill()
            #expect(had > 0 && !worker.text.contains("error"), "\(places), kill \(kill): \(worker.text.suffix(500))")
            #expect(try await claimed() <= had, "\(places), kill \(kill)")
        }
        let last = try WorkerProcess("go", fixture.folder)
        last.end()
        #expect(last.text.hasSuffix("succeeded \(count)\n") && !last.text.contains("error"), "\(last.text.suffix(500))")
        #expect(try fixture.bytes() == content, "\(places)")
        #expect(!fixture.names.contains { $0.hasPrefix(".backplane-part-") })
        // The process may have been killed while it wrote a piece of the body.
        let twice = server.counts.sent - count
        #expect(twice >= 0 && twice <= kills * 128 << 10, "\(places): \(twice) bytes twice")
        #expect(server.counts.requests == kills + 1)
    }
}
