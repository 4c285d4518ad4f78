import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let histories = (UInt64(1)...4).map { seed in
        Requirement("Random histories have the same results as a simple model (seed \(seed)).") { trial in
            var history = RecordHistory(trial, seed: seed)
            try await history.run()
        }
    }
}

/// A random history of a collection with two indexes, and a model that sorts and compares all records each time.
private struct RecordHistory {
    private struct Book {
        /// The positions of the properties' values among the ordered values.
        var p, q: Int
        var version: Int64
    }
    private let trial: RecordStoreTrial
    private var random: ConformanceNumbers
    /// The books, keyed by the bytes of their ids.
    private var books: [[UInt8]: Book] = [:]
    private var last: Int64 = 0

    init(_ trial: RecordStoreTrial, seed: UInt64) { (self.trial, random) = (trial, ConformanceNumbers(seed)) }

    mutating func run() async throws {
        try await trial.define(IndexDefinition("p"), IndexDefinition("p", "q"))
        for _ in 0..<150 {
            try await write()
            try await compare()
        }
    }

    private mutating func id() -> String {
        ["a", "b", "a\u{0}", "é", "e\u{301}", "zz", "z"].randomElement(using: &random)!
    }

    private mutating func write() async throws {
        var changes: [RecordChange] = [], conditions: [RecordCondition] = []
        var next = books, holds = true, effects: [Bool] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let id = id(), known = books[bytes(id)]?.version ?? 0, isRight = Int.random(in: 0..<4, using: &random) > 0
            conditions.append(.version(collection: "books", id: id, isRight ? known : known + 1))
            holds = holds && isRight
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let isRight = Bool.random(using: &random) || last == 0
            conditions.append(.unchanged(collection: "books", since: isRight ? last : last - 1))
            holds = holds && isRight
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                changes.append(.deleteAll(collection: "books"))
                effects.append(!next.isEmpty)
                next = [:]
            case 1...5:
                let id = id()
                changes.append(trial.delete(id))
                effects.append(next.removeValue(forKey: bytes(id)) != nil)
            default:
                let id = id(), values = RecordStoreConformance.orderedValues
                let p = Int.random(in: 0..<values.count, using: &random),
                    q = Int.random(in: 0..<values.count, using: &random)
                changes.append(trial.save(id, #"{"q":\#(values[q]),"p":\#(values[p])}"#))
                effects.append(true)
                next[bytes(id)] = Book(p: p, q: q, version: Int64(-effects.count))
            }
        }
        do {
            let numbers = try await trial.store.write(RecordBatch(changes, if: conditions), in: "A")
            try expect(holds, "a batch was written although a condition does not hold: \(conditions)")
            try expect(numbers.map { $0 > 0 }, equals: effects, "which changes had an effect")
            for number in numbers where number > 0 {
                try expect(number > last, "\(numbers) are not behind \(last)")
                last = number
            }
            books = next.mapValues { book in
                var book = book
                if book.version < 0 { book.version = numbers[Int(-book.version) - 1] }
                return book
            }
        } catch let error as BackplaneError {
            try expect(!holds && error.code == .storeConflict, "\(error), with \(conditions)")
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private mutating func compare() async throws {
        let limit = Int.random(in: 1...5, using: &random), isDescending = Bool.random(using: &random)
        let byID = books.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        func sorted(_ key: (Book) -> [Int]) -> [[UInt8]] {
            // Sorting is stable, so that equal values keep the order of their ids.
            let order = byID.enumerated().sorted {
                let (one, other) = (key($0.element.value), key($1.element.value))
                return one == other ? $0.offset < $1.offset : one.lexicographicallyPrecedes(other)
            }
            return order.map(\.element.key)
        }
        try await compare(RecordRange(), byID.map(\.key), limit, isDescending)
        try await compare(RecordRange(of: "p"), sorted { [$0.p] }, limit, isDescending)
        try await compare(RecordRange(of: "p,q"), sorted { [$0.p, $0.q] }, limit, isDescending)
        for book in byID {
            let id = String(decoding: book.key, as: UTF8.self)
            try expect(try await trial.record(id)?.version, equals: book.value.version, id)
        }
    }

    private func compare(_ range: RecordRange, _ expected: [[UInt8]], _ limit: Int, _ isDescending: Bool) async throws {
        var found: [String] = [], cursor: PageCursor?
        repeat {
            let page = try await trial.page(range, isDescending: isDescending, after: cursor, limit: limit)
            try expect(page.change, equals: last, "the collection's change number")
            found += page.records.map(\.id)
            cursor = page.next
        } while cursor != nil && found.count <= expected.count
        let wanted = isDescending ? expected.reversed() : expected
        try expect(found.map { bytes($0) }, equals: wanted, range.index ?? "ids")
        try expect(
            try await trial.store.count(RecordQuery(collection: "books", .range(range)), in: "A"),
            equals: expected.count)
    }
}
