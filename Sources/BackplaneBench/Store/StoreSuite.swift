import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTerminal
import Foundation
import Synchronization

// The cost of the store, compared with GRDB that makes the same statements on a file with the same settings.
extension BenchSuite {
    static let store = BenchSuite(name: "store") { folder in
        let fixtures = StoreFixtures(folder: folder)
        let written = try await fixtures.store("written"), bare = try await fixtures.bare("bare")
        let borrowed = try await BorrowedStore(try await fixtures.store("borrowed"), in: folder + "/borrowed-host")
        let settings = try written.settings, others = try bare.settings
        guard settings == others else {
            throw BackplaneError(
                .componentFailed, "the store has \(settings), but its baseline has \(others)")
        }
        let rows = StoreRows(fixtures: fixtures, written: written, bare: bare, borrowed: borrowed.store, folder: folder)
        return Opened(
            rows: rows.writing + rows.reading + rows.large + rows.contended, remark: "both sides: \(settings)"
        ) {
            await borrowed.stop()
            await fixtures.close()
        }
    }
}

/// The rows of the store suite.
struct StoreRows {
    let fixtures: StoreFixtures
    let written: SQLiteRecordStore
    let bare: BareStore
    let borrowed: Store
    let folder: String

    /// The rows of writes, whose records are new and are encoded on both sides.
    var writing: [Row] {
        let written = written, bare = bare, books = borrowed.collection(BenchBook.self)
        let save = "GRDB alone, a durable save", batch = "GRDB alone, a batch of 1,000"
        func numbers() -> @Sendable (_ count: Int) -> Range<Int> {
            let next = Atomic(0)
            return { count in
                let end = next.add(count, ordering: .relaxed).newValue
                return end - count..<end
            }
        }
        func saves(
            _ name: String, _ baseline: String?, _ target: Target?,
            _ save: @escaping @Sendable ([BenchBook]) async throws -> Void
        )
            -> Row
        {
            let numbers = numbers()
            return .calls(name, unit: .microseconds, baseline: baseline, target: target) { count in
                for number in numbers(count) { try await save([BenchBook(number)]) }
                return count
            }
        }
        func batches(
            _ name: String, _ baseline: String?, _ target: Target?,
            _ save: @escaping @Sendable ([BenchBook]) async throws -> Void
        )
            -> Row
        {
            let numbers = numbers()
            var row = Row.calls(name, unit: .milliseconds, baseline: baseline, target: target) { count in
                for _ in 0..<count { try await save(numbers(1_000).map { BenchBook(1 << 30 + $0) }) }
                return count
            }
            row.limit = 4
            return row
        }
        return [
            saves(save, nil, nil) { try await bare.save($0) },
            saves("store, a durable save", save, .ratio(atMost: 1 / 0.8)) { try await written.save($0) },
            batches(batch, nil, nil) { try await bare.save($0) },
            batches("store, a batch of 1,000", batch, .ratio(atMost: 1 / 0.7)) { try await written.save($0) },
            batches("plugin, a batch of 1,000", batch, .ratio(atMost: 1 / 0.6)) { try await books.save($0) },
        ]
    }

    /// The rows of reads, in stores with as many records as the row has iterations.
    var reading: [Row] {
        let fixtures = fixtures
        let fetch = "GRDB alone, a fetch among 100,000"
        func fetches(
            _ name: String, _ baseline: String?, _ target: Target?,
            _ fetch: @escaping @Sendable (_ id: String, _ size: Int) async throws -> BenchBook?
        ) -> Row {
            Row(
                name: name, unit: .microseconds, baseline: baseline, target: target, limit: 100_000, count: 100_000
            ) { size in
                _ = try await fetch("", size)  // makes the store
                let count = min(size, 500), start = ContinuousClock.now
                for place in 0..<count {
                    let number = place &* 7_919 % size
                    guard try await fetch(BenchBook.id(number), size)?.number == number else {
                        throw Missing(number: number)
                    }
                }
                return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
            }
        }
        func pages(_ name: String, _ start: @escaping @Sendable (_ size: Int) -> Int) -> Row {
            Row(
                name: "\(name) page of 100 among 1,000,000, sorted", unit: .milliseconds,
                target: .median(atMost: 5), limit: 1_000_000, count: 1_000_000
            ) { size in
                let store = try await fixtures.store("read", of: size), before = max(0, start(size)) - 1
                let cursor =
                    before < 0
                    ? nil
                    : PageCursor(
                        key: IndexKey.bytes(of: [.integer(Int64(before))]), id: Array(BenchBook.id(before).utf8))
                let query = RecordQuery(
                    collection: BenchBook.collection, .range(RecordRange(of: "number")), after: cursor, limit: 100)
                let began = ContinuousClock.now
                for _ in 0..<10 {
                    let page = try await store.read(query, in: BenchBook.namespace)
                    guard page.records.first?.id == BenchBook.id(before + 1) else { throw Missing(number: before + 1) }
                }
                return (ContinuousClock.now - began) / .milliseconds(1) / 10
            }
        }
        return [
            fetches(fetch, nil, nil) { id, size in try await fixtures.bare("read", of: size).fetch(id) },
            fetches("store, a fetch among 100,000", fetch, .ratio(atMost: 1 / 0.7)) { id, size in
                try await fixtures.store("read", of: size).book(id)
            },
            pages("first") { _ in 0 }, pages("middle") { $0 / 2 }, pages("last") { $0 - 100 },
        ]
    }

    /// The rows of large stores.
    var large: [Row] {
        let fixtures = fixtures, folder = folder
        func opening(_ name: String, _ prepare: @escaping @Sendable (_ folder: String) async throws -> Void) -> Row {
            Row(
                name: name, unit: .milliseconds, target: .median(atMost: 50), limit: 1_000, count: 1_000, rounds: 5
            ) { megabytes in
                let folder = try await fixtures.large(megabytes: megabytes)
                try await prepare(folder)
                let start = ContinuousClock.now
                let store = try StoreFixtures.open(folder)
                let time = (ContinuousClock.now - start) / .milliseconds(1)
                withExtendedLifetime(store) {}
                return time
            }
        }
        return [
            Row(
                name: "memory of a dump of 1,000,000", unit: .megabytes, target: .median(atMost: 64), limit: 1_000_000,
                count: 1_000_000, rounds: 1
            ) { size in
                _ = try await fixtures.store("read", of: size)
                return try await Self.memoryOfDump(of: fixtures.path("read-\(size)"), folder)
            },
            opening("opening of 1 GB, closed") { _ in },
            opening("opening of 1 GB, left by a kill") { store in
                try await ProgramRun.with([MeasuringChild.command, StoreChild.measure, store, folder]) { run in
                    guard run.speaks() else { return try run.requireSuccess() }
                    // It is killed when this returns.
                }
            },
        ]
    }

    /// Measures the peak memory of the command that dumps a store, in millions of bytes.
    private static func memoryOfDump(of store: String, _ folder: String) async throws -> Double {
        let manifest = folder + "/dumped.json", data = folder + "/dumped-data"
        try Data(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#.utf8).write(to: URL(filePath: manifest))
        let place = try DataFolder(in: data, manifest: manifest).storeFolder()
        for suffix in ["", "-wal", "-shm"]
        where FileManager.default.fileExists(atPath: store + "/store.sqlite" + suffix) {
            try? FileManager.default.removeItem(atPath: place + "/store.sqlite" + suffix)
            try FileManager.default.copyItem(
                atPath: store + "/store.sqlite" + suffix, toPath: place + "/store.sqlite" + suffix)
        }
        return try await ProgramRun.with(["store", "dump", "--manifest", manifest, "--data", data]) { run in
            var most = 0.0
            try run.discard { most = max(most, ProcessMemory.highest(ofProcess: run.id) ?? 0) }
            try run.requireSuccess()
            guard most > 0 else {
                throw BackplaneError(.componentFailed, "the system does not report the peak memory of a process")
            }
            return most / 1e6
        }
    }

    /// The rows of concurrent readers and writers; iterations are milliseconds.
    var contended: [Row] {
        let fixtures = fixtures, folder = folder
        let figures = SharedFigures { milliseconds in
            let engine = try await fixtures.store("contended-\(UUID().uuidString)")
            let contended = ContendedStore(engine: engine, folder: folder + "/contended-hosts")
            return try await contended.figures(for: .milliseconds(milliseconds))
        }
        func row(
            _ name: String, _ figure: String, _ unit: Row.Unit, baseline: String? = nil, _ target: Target? = nil
        ) -> Row {
            Row(
                name: name, unit: unit, baseline: baseline, target: target,
                summary: unit == .failures ? .highest : .median, limit: 60_000, count: 60_000, rounds: 1
            ) { try await figures.required(figure, count: $0) }
        }
        let alone = "8 readers alone, p99 of a page"
        return [
            row(alone, "alone", .microseconds),
            row("8 readers beside 2 writers, p99", "beside", .microseconds, baseline: alone, .ratio(atMost: 1.5)),
            row("errors of readers and writers", "errors", .failures, .median(atMost: 0)),
            row("lost updates of 2 writers", "lost", .failures, .median(atMost: 0)),
        ]
    }

    private struct Missing: Error, CustomStringConvertible {
        var number: Int
        var description: String { "the book \(number) was not found" }
    }
}

/// The child process that is killed while it has a store open.
enum StoreChild {
    static let measure = "open-store"

    /// Opens the store in a folder, writes to it, reports that, and waits to be killed.
    static func run(in folder: String) async -> Int32 {
        do {
            let store = try StoreFixtures.open(folder)
            try await store.write(
                [.save(collection: "large", StoredRecord(id: "last", value: Array("{}".utf8)))], in: BenchBook.namespace
            )
            Output.line("open")
            try await Task.sleep(for: .seconds(600))
            withExtendedLifetime(store) {}
            return 0
        } catch {
            return Output.fail(error)
        }
    }
}
