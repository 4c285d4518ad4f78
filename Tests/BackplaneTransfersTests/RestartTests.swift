import Backplane
import BackplaneNetwork
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneTransfers

/// What a pool finds again after a restart, in its store and beside its targets.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
    private let fixture: TransferFixture
    private let content = TransferFixture.content(800_000)

    init() throws { fixture = try TransferFixture() }

    @Test func `what was open goes on by itself, and what was paused or finished stays so`() async throws {
        let store = MemoryRecordStore()
        let server = try FileServer(content) { reply, number in if number <= 2 { reply.stall = 500_000 } }
        let pool = try await fixture.pool(store)
        for id in ["runs", "paused"] {
            try await pool.begin(fixture.download(server.url("/\(id)"), id, to: id))
            try await pool.state(of: id) { $0.bytes == 500_000 }
        }
        try await pool.pause("paused")
        try await pool.begin(fixture.download(server.url("/done"), "done", to: "done"))
        #expect(try await pool.end(of: "done").phase == .succeeded)
        await pool.stop()

        let again = try await fixture.pool(store)
        #expect(try await again.end(of: "runs").phase == .succeeded)
        #expect(try fixture.bytes("runs") == content)
        #expect(try await again.state(of: "paused").phase == .paused)
        #expect(try await again.state(of: "paused").bytes == 500_000)
        #expect(try await again.state(of: "done").file == fixture.path("done"))
        #expect(server.counts.sent == 500_000 * 2 + 300_000 + content.count, "nothing is fetched twice")
        try await again.resume("paused")
        #expect(try await again.end(of: "paused").phase == .succeeded)
        #expect(server.counts.sent == content.count * 3)
    }

    @Test func `credentials are not stored, and a transfer waits for them after a restart`() async throws {
        let store = MemoryRecordStore()
        let server = try FileServer(content) { reply, number in if number == 1 { reply.stall = 500_000 } }
        let pool = try await fixture.pool(store)
        var request = HTTPRequest("GET", server.url())
        request.headers = ["Authorization": "Bearer white-whale", "X-Client": "ahab", "Cookie": "white-whale"]
        let transfer = Transfer("whale", download: request, to: fixture.path())
        try await pool.begin(transfer)
        try await pool.state { $0.bytes == 500_000 }
        await pool.stop()
        for record in try await store.read(.init(collection: "transfers"), in: TransferPool.namespace).records {
            #expect(!String(decoding: record.value, as: UTF8.self).contains("white-whale"))
        }
        let again = try await fixture.pool(store)
        let waiting = try await again.state(of: "whale")
        #expect(waiting.phase == .paused && waiting.error?.code == .transferCredentials)
        #expect(waiting.error?.message.contains("Authorization, Cookie") == true)
        try await again.resume("whale")
        #expect(try await again.state(of: "whale").phase == .paused)
        #expect(server.counts.requests == 1)
        try await again.begin(transfer)
        #expect(try await again.end().phase == .succeeded)
        #expect(server.counts.ranges == ["", "bytes=500000-"])
    }

    @Test func `an upload that was under way begins anew, and says so`() async throws {
        let store = MemoryRecordStore(), received = Recording<Int>()
        let server = try TestServer(readsBodies: false) { request, connection in
            if connection.number == 0 { return connection.stall() }
            guard let whole = connection.readBody(of: request) else { return }
            received.add(whole.body.count)
            connection.answer("204 No Content")
        }
        let pool = try await fixture.pool(store)
        let body = HTTPBody.multipart([.bytes("text", TransferFixture.content(8 << 20), fileName: "whale.txt")])
        try await pool.begin(Transfer("whale", upload: HTTPRequest("POST", server.url(), body: body)))
        var requests = server.requests.makeAsyncIterator()
        _ = await requests.next()
        try await pool.state { $0.bytes > 0 }
        await pool.stop()
        let again = try await fixture.pool(store)
        let state = try await again.end()
        #expect(state.phase == .succeeded && state.restart == .upload, "\(state)")
        #expect(received.all.count == 1 && received.all[0] > 8 << 20)
    }

    @Test func `a store that cannot be written fails what was asked for, and no transfer`() async throws {
        let store = FailingStore(MemoryRecordStore()), server = try FileServer(content),
            reports = Recording<BackplaneError>()
        let pool = try await TransferPool(TransferFixture.network, store: store) { reports.add($0) }
        store.allowWrites(0)
        let error = await #expect(throws: BackplaneError.self) { try await pool.begin(fixture.download(server.url())) }
        #expect(error?.code == .storeUnusable)
        #expect(try await pool.end().phase == .succeeded, "it had begun")
        #expect(try fixture.bytes() == content)
        #expect(!reports.all.isEmpty)
    }
}

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

/// A process of `transfer-worker`, which is beside the tests.
final class WorkerProcess {
    private let process = Process()
    private let output = Pipe()
    /// What it has printed so far.
    private(set) var text = ""

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: BuiltProducts.folder + "/transfer-worker")
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        try process.run()
    }

    deinit { kill() }

    /// Waits for more output; `false` at its end.
    func read() -> Bool {
        let data = output.fileHandleForReading.availableData
        text += String(decoding: data, as: UTF8.self)
        return !data.isEmpty
    }

    /// Reads to the end of the output, and waits for that of the process.
    func end() {
        while read() {}
        process.waitUntilExit()
    }

    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        end()
    }
}
