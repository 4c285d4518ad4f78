import Backplane
import BackplaneSQLite
import BackplaneStorage
import Synchronization

/// Readers of a store, alone and beside writers whose transactions conflict.
struct ContendedStore: Sendable {
    private struct Counter: Record {
        static let collection = "counters"
        var id: String
        var value: Int
    }
    let engine: SQLiteRecordStore
    let folder: String
    private static let readers = 8, books = 10_000

    /// Measures for a time with writers, and then for the same time without them.
    ///
    /// - Returns: The 99th percentiles of a page in microseconds, `alone` and `beside`; the number of `errors`; and the
    ///   number of acknowledged increments that are missing, `lost`.
    func figures(for duration: Duration) async throws -> [String: Double] {
        // Two components of two hosts, whose counters are the same.
        let first = try await BorrowedStore(engine, in: folder + "/first")
        let second = try await BorrowedStore(engine, in: folder + "/second")
        let counters = first.store.collection(Counter.self)
        try await first.store.collection(BenchBook.self).save((0..<Self.books).map { BenchBook($0) })
        try await counters.save([Counter(id: "a", value: 0), Counter(id: "b", value: 0)])
        let alone = try await run([], [first, second], for: duration)
        let beside = try await run([first, second], [first, second], for: duration)
        let found = try await counters.all().map(\.value).reduce(0, +)
        await first.stop()
        await second.stop()
        return [
            "alone": alone.p99, "beside": beside.p99, "errors": Double(alone.errors + beside.errors),
            "lost": Double(2 * beside.increments - found),
        ]
    }

    /// The counts of readers and writers.
    private final class Tally: Sendable {
        let errors = Atomic(0), increments = Atomic(0)
        /// The durations of all pages, in microseconds.
        let times = Mutex<[Double]>([])
    }

    private struct Result: Sendable {
        var p99 = 0.0
        var errors = 0
        var increments = 0
    }

    private func run(_ writers: [BorrowedStore], _ readers: [BorrowedStore], for duration: Duration) async throws
        -> Result
    {
        let tally = Tally(), end = ContinuousClock.now + duration
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<Self.readers {
                let books = readers[reader % readers.count].store.collection(BenchBook.self)
                group.addTask {
                    var own: [Double] = []
                    while ContinuousClock.now < end || own.isEmpty {
                        let start = ContinuousClock.now, from = Int.random(in: 0..<Self.books - 20)
                        do {
                            let page = try await books.query(\.number, from: from).page(limit: 20)
                            if page.records.count != 20 { tally.errors.add(1, ordering: .relaxed) }
                        } catch {
                            tally.errors.add(1, ordering: .relaxed)
                        }
                        own.append((ContinuousClock.now - start) / .microseconds(1))
                    }
                    tally.times.withLock { $0 += own }
                }
            }
            for writer in writers {
                group.addTask {
                    repeat {
                        do {
                            // A loser tries again until it has won: none may be given up.
                            try await writer.store.transaction(attempts: 10_000) { transaction in
                                let counters = transaction.collection(Counter.self)
                                guard var a = try await counters.fetch("a"), var b = try await counters.fetch("b")
                                else {
                                    throw BackplaneError(.componentFailed, "a counter is missing")
                                }
                                (a.value, b.value) = (a.value + 1, b.value + 1)
                                try await counters.save([a, b])
                            }
                            tally.increments.add(1, ordering: .relaxed)
                        } catch {
                            tally.errors.add(1, ordering: .relaxed)
                        }
                    } while ContinuousClock.now < end
                }
            }
        }
        return Result(
            p99: Sample(tally.times.withLock { $0 }).p99, errors: tally.errors.load(ordering: .relaxed),
            increments: tally.increments.load(ordering: .relaxed))
    }
}
