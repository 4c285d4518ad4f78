import Backplane
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneTransfers

/// The part file, its record, and what others do to both.
struct PartFileTests {
    private static let origin = PartRecord(url: "http://books.test/whale", validator: "\"1\"", length: 1 << 20)
    private let fixture: TransferFixture
    private let content = TransferFixture.content(600_000)

    init() throws { fixture = try TransferFixture() }

    /// Writes a part of the content, of which 400,000 bytes are flushed, and returns the path of its record.
    @discardableResult
    private func write(isLeft: Bool) throws -> String {
        let part = try PartFile(target: fixture.path())
        try part.begin(Self.origin)
        try part.append(Array(content[..<400_000]))
        try part.sync(400_000)
        try part.append(Array(content[400_000...]))
        if isLeft { try part.leave() }
        return part.path + ".json"
    }

    private func restored() throws -> (count: Int64, origin: PartRecord?, hadBytes: Bool) {
        let part = try PartFile(target: fixture.path())
        let found = try part.restore()
        let bytes = try Data(contentsOf: URL(filePath: part.path))
        #expect(Array(bytes) == Array(content.prefix(Int(part.count))), "all else is dropped")
        return (part.count, found.origin, found.hadBytes)
    }

    private func change(_ record: String, _ change: (inout PartRecord) -> Void) throws {
        var changed = try JSONDecoder().decode(PartRecord.self, from: Data(contentsOf: URL(filePath: record)))
        change(&changed)
        try JSONEncoder().encode(changed).write(to: URL(filePath: record))
    }

    @Test func `what was written is there, whether the process has left the part or was killed`() throws {
        for isLeft in [true, false] {
            try write(isLeft: isLeft)
            let found = try restored()
            #expect(found.count == 600_000 && found.origin?.validator == "\"1\"" && found.hadBytes)
            #expect(found.origin?.url == Self.origin.url && found.origin?.length == 1 << 20)
        }
    }

    @Test func `after a power failure, the bytes that were flushed are used`() throws {
        let record = try write(isLeft: false)
        try change(record) { $0.boot = "another run of the system" }
        #expect(try restored().count == 400_000)
    }

    @Test(arguments: [0, 1, 599_999, 700_000])
    func `of a part that was shortened or extended, the bytes that were written remain`(length: Int) throws {
        let record = try write(isLeft: true)
        #expect(truncate(String(record.dropLast(".json".count)), length) == 0)
        #expect(try restored().count == min(length, 600_000))
    }

    @Test(arguments: ["", "{", "[]"])
    func `a part without a record that can be read is not used`(text: String) throws {
        let record = try write(isLeft: true)
        try Data(text.utf8).write(to: URL(filePath: record))
        let found = try restored()
        #expect(found.count == 0 && found.origin == nil && found.hadBytes)
    }

    @Test func `the record of a new origin replaces a longer one`() throws {
        let part = try PartFile(target: fixture.path())
        var long = Self.origin
        long.url += String(repeating: "a", count: 10_000)
        try part.begin(long)
        try part.append([1])
        try part.sync(1)
        try part.begin(Self.origin)
        try part.append(Array(content[..<10]))
        try part.leave()
        part.close()
        #expect(try restored().origin?.url == Self.origin.url)
    }

    @Test func `a part belongs to one at a time`() throws {
        let part = try PartFile(target: fixture.path())
        let error = #expect(throws: BackplaneError.self) { try PartFile(target: fixture.path()) }
        #expect(error?.code == .transferTaken)
        part.remove()
        _ = try PartFile(target: fixture.path())
    }

    @Test func `the name of a part fits wherever the target's does`() throws {
        let name = String(repeating: "ü", count: 127)
        let part = try PartFile(target: fixture.path(name))
        try part.begin(Self.origin)
        try part.append([1])
        #expect(try part.finish(.replace) == fixture.path(name))
        #expect(fixture.names == [name])
    }

    @Test(arguments: ["", "/", "a/", ".", "..", "/tmp/..", "a\0b"])
    func `what is no path of a file is refused`(path: String) {
        let error = #expect(throws: BackplaneError.self) { try PartFile(target: path) }
        #expect(error?.code == .networkFile)
    }

    @Test func `an existing file is replaced, kept or numbered`() throws {
        func finish(_ policy: ExistingFile, _ byte: UInt8) throws -> String? {
            let part = try PartFile(target: fixture.path())
            try part.begin(Self.origin)
            try part.append([byte])
            return try part.finish(policy)
        }
        #expect(try finish(.keep, 1) == fixture.path())
        #expect(try finish(.keep, 2) == nil)
        #expect(try fixture.bytes() == [1])
        #expect(try finish(.replace, 3) == fixture.path())
        #expect(try fixture.bytes() == [3])
        #expect(try finish(.number, 4) == fixture.path("whale-2.epub"))
        #expect(try finish(.number, 5) == fixture.path("whale-3.epub"))
        #expect(fixture.names == ["whale-2.epub", "whale-3.epub", "whale.epub"])
        #expect(TargetPath("/a/.hidden")?.numbered(2) == "/a/.hidden-2")
        #expect(TargetPath("name")?.numbered(2) == "name-2")
    }
}

/// Decisions about transfers at moments that a server cannot bring about.
struct TransferTableTests {
    private static var transfer: Transfer {
        var transfer = Transfer("whale", download: "http://books.test/whale", to: "/whale.epub")
        (transfer.credential, transfer.account) = ("library", "ann")
        return transfer
    }
    private let key = ExactText("whale")

    private func phase(_ table: TransferTable) -> TransferState.Phase? { table.entries[key]?.state.phase }

    @Test func `numbers go on after a record that cannot be read`() async throws {
        let store = MemoryRecordStore(), records = TransferRecords(store: store)
        #expect(try await records.define() == 0)
        let damaged = StoredRecord(id: "whale", value: Array(#"{"number": 7, "isOpen": true}"#.utf8))
        try await store.write([.save(collection: "transfers", damaged)], in: TransferPool.namespace)
        #expect(try await records.define() == 7)
    }

    @Test(arguments: ["{}", #"{"bytes": "", "file": "a"}"#])
    func `a piece of a body that is neither bytes nor a file is refused`(piece: String) {
        let json = #"{"id": "whale", "url": "http://books.test/", "body": [\#(piece)]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Transfer.self, from: Data(json.utf8)) }
    }

    @Test func `a transfer that fails without its account goes on if that was signed in meanwhile`() throws {
        let withoutAccount = TransferTable.Outcome.failed(BackplaneError(.networkCredential, "it is not signed in"))
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(Self.transfer)
        #expect(phase(table) == .running)
        table.resumeWaiting(for: "library", account: "bob")
        table.ended(key, withoutAccount)
        #expect(phase(table) == .paused)
        table.resumeWaiting(for: "library", account: "ann")
        #expect(phase(table) == .running)
        // Signed in once more after the run has failed, and before that is known.
        table.resumeWaiting(for: "library", account: "ann")
        table.ended(key, withoutAccount)
        #expect(phase(table) == .running)
        // That was the account of the run before.
        table.ended(key, withoutAccount)
        #expect(phase(table) == .paused)
    }

    @Test func `a run keeps its settings and its body, and no digest is lifted`() throws {
        func download(_ sha256: [UInt8]?, _ limit: Int64? = nil) -> Transfer {
            var transfer = Transfer("whale", download: "http://books.test/whale", to: "/whale.epub")
            (transfer.existing, transfer.sha256, transfer.sizeLimit) = (.number, sha256, limit)
            return transfer
        }
        func settings(_ table: TransferTable) -> Transfer? { table.entries[key]?.transfer }
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(download([1]))
        try table.resume(key, with: download(nil, 5))
        #expect(settings(table)?.sha256 == [1] && settings(table)?.sizeLimit == nil)
        table.ended(key, .failed(BackplaneError(.networkFailed, "the server is away")))
        try table.resume(key, with: download(nil, 5))
        #expect(settings(table)?.sha256 == [1] && settings(table)?.sizeLimit == 5)
        #expect(settings(table)?.existing == .number)

        func upload(_ text: String) -> Transfer {
            Transfer("whale", upload: HTTPRequest("PUT", "http://books.test/whale", body: Array(text.utf8)))
        }
        var uploads = TransferTable(TransferOptions(), lastNumber: 0)
        try uploads.begin(upload("first"))
        try uploads.resume(key, with: upload("second"))
        #expect(uploads.entries[key]?.transfer.request.body.bytes == Array("first".utf8))
    }

    @Test func `a transfer that runs is not removed`() throws {
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(Self.transfer)
        table.remove(key)
        #expect(table.entries[key] != nil)
        table.ended(key, .ended)
        table.remove(key)
        #expect(table.entries.isEmpty && table.isRemoved(key))
    }
}

/// The order of places: limits, priorities, and owners that get as much as each other.
struct TransferQueueTests {
    private func add(
        _ queue: inout TransferQueue, _ numbers: some Sequence<Int>, _ owner: String = "", host: String = "h",
        priority: Int = 0
    ) {
        for number in numbers { queue.add(number, priority: priority, owner: ExactText(owner), host: host) }
    }

    private func all(_ queue: inout TransferQueue) -> [Int] {
        var numbers: [Int] = []
        while let number = queue.next() { numbers.append(number) }
        return numbers
    }

    @Test func `no more run at once than may, in all and with one host`() {
        var queue = TransferQueue(concurrent: 5, perHost: 2)
        add(&queue, 1...4, host: "a")
        add(&queue, 5...8, host: "b")
        add(&queue, 9...9, host: "c")
        #expect(all(&queue) == [1, 2, 5, 6, 9])
        queue.ended(5)
        #expect(all(&queue) == [7])
        queue.ended(1)
        queue.ended(9)
        #expect(all(&queue) == [3])
    }

    @Test func `a greater priority comes first, and equal ones in their order`() {
        var queue = TransferQueue(concurrent: 1, perHost: 1)
        add(&queue, [1, 2])
        add(&queue, [3, 4], priority: 1)
        add(&queue, [5], priority: -1)
        var order: [Int] = []
        while let number = queue.next() {
            order.append(number)
            queue.ended(number)
        }
        #expect(order == [3, 4, 1, 2, 5])
    }

    @Test func `an owner with a thousand transfers leaves the others their places`() {
        var queue = TransferQueue(concurrent: 4, perHost: 4)
        add(&queue, 1...1_000, "many")
        add(&queue, 1_001...1_002, "few")
        #expect(all(&queue) == [1, 1_001, 2, 1_002])
        // The one that comes later gets the next place.
        add(&queue, [2_000], "late")
        queue.ended(2)
        #expect(all(&queue) == [2_000])
    }

    @Test func `owners take turns while there is one place`() {
        var queue = TransferQueue(concurrent: 1, perHost: 1)
        add(&queue, 1...3, "a")
        add(&queue, 11...13, "b")
        var order: [Int] = []
        while let number = queue.next() {
            order.append(number)
            queue.ended(number)
        }
        #expect(order == [1, 11, 2, 12, 3, 13])
    }

    @Test func `one that was taken out gets no place, and may come again`() {
        var queue = TransferQueue(concurrent: 10, perHost: 10)
        add(&queue, 1...3)
        queue.remove(1)
        queue.remove(3)
        #expect(all(&queue) == [2])
        add(&queue, [1])
        #expect(all(&queue) == [1])
        queue.remove(1)
        queue.ended(2)
        queue.ended(2)
        add(&queue, [4])
        #expect(all(&queue) == [4])
    }

    @Test func `whatever comes and goes, the limits hold and nobody is forgotten`() {
        var random = SeededNumbers(7)
        for _ in 0..<50 {
            let concurrent = Int.random(in: 1...6, using: &random), perHost = Int.random(in: 1...4, using: &random)
            var queue = TransferQueue(concurrent: concurrent, perHost: perHost)
            var host: [Int: String] = [:], waiting: Set<Int> = [], running: Set<Int> = [], done: Set<Int> = []
            for number in 0..<200 {
                let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                add(&queue, [number], "\(number % 3)", host: name, priority: number % 2)
                host[number] = name
                waiting.insert(number)
                while let next = queue.next() {
                    #expect(waiting.remove(next) != nil)
                    running.insert(next)
                }
                #expect(running.count <= concurrent)
                for name in ["a", "b", "c"] { #expect(running.count { host[$0] == name } <= perHost) }
                if Bool.random(using: &random), let end = running.randomElement(using: &random) {
                    queue.ended(end)
                    running.remove(end)
                    done.insert(end)
                }
            }
            repeat {
                for end in running { queue.ended(end) }
                done.formUnion(running)
                running = []
                while let next = queue.next() {
                    waiting.remove(next)
                    running.insert(next)
                }
            } while !running.isEmpty
            #expect(waiting.isEmpty && done.count == 200)
        }
    }
}
