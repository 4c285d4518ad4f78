import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Foundation
import Glibc
import Synchronization
import TestGenerators
import Testing

/// A store whose file was damaged: what can still be read of it, who may repair it, and what a killed repair leaves.
@Suite(.timeLimit(.minutes(10)))
struct DamagedStoreTests {
    /// A folder with a store of records whose values name them all over, so that a page tells whose bytes lie on it.
    final class Fixture: Sendable {
        let folder: String
        var file: String { folder + "/store.sqlite" }
        private let reported = Mutex<[BackplaneError]>([])
        var reports: [BackplaneError] { reported.withLock { $0 } }

        init() throws { folder = try StorageFixture.folder() }
        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func open(damaged: DamagedStorePolicy = .salvage) throws -> SQLiteRecordStore {
            try SQLiteRecordStore(folder: folder, damaged: damaged) { [weak self] error in
                self?.reported.withLock { $0.append(error) }
            }
        }

        /// Opens a store in which a check of the whole file has found the damage.
        func openAgain() async throws -> SQLiteRecordStore {
            if let store = try? open() { _ = try await store.findDamage() }
            return try open()
        }

        /// The names of the files beside the store that begin with its name.
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    /// How the records of a store look.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var records: Int
        /// How long the ids are; long ones make a deep tree.
        var idLength: Int
        /// How often a value names its record, in 16 bytes each; many go over several pages.
        var repeats: @Sendable (Int) -> Int
        /// Whether every record lies on one page.
        var fits = true
        static let all = [
            Shape(testDescription: "a flat tree", records: 1_000, idLength: 10) { _ in 12 },
            Shape(testDescription: "a deep tree", records: 1_000, idLength: 600) { _ in 4 },
            Shape(
                testDescription: "records over several pages", records: 300, idLength: 10,
                repeats: { $0 % 3 == 0 ? 2_000 : 8 }, fits: false),
        ]

        func name(_ number: Int) -> String { String(repeating: "0", count: 8 - "\(number)".count) + "\(number)" }
        func id(_ number: Int) -> String { name(number) + String(repeating: "x", count: idLength - 8) }
        func marker(_ number: Int) -> [UInt8] { Array("<rec:\(name(number))>>>".utf8) }

        func change(_ number: Int) -> RecordChange {
            let value = (0..<repeats(number)).flatMap { _ in marker(number) }
            return .save(collection: number % 2 == 0 ? "books" : "loans", StoredRecord(id: id(number), value: value))
        }
    }

    /// Expects every record that is there to be what it was, and those that are not among the lost.
    ///
    /// - Returns: The number of records that are neither there nor told to be damaged.
    @discardableResult
    private func expectRecords(_ shape: Shape, in store: SQLiteRecordStore, but lost: Set<Int>, _ comment: Comment)
        async throws -> Int
    {
        var kept: Set<Int> = []
        for collection in ["books", "loans"] {
            let page = try await store.read(RecordQuery(collection: collection), in: "library")
            #expect(page.next == nil, comment)
            // Bytes of an overflow page that only a checksum covers: the record is told from the others, and stays.
            for record in page.damaged {
                let number = try #require(Int(record.id.prefix(8)))
                #expect(lost.contains(number), "\(number) is not what it was: \(comment)")
                kept.insert(number)
            }
            for record in page.records {
                let number = try #require(Int(record.id.prefix(8)))
                kept.insert(number)
                guard case .save(collection, let expected) = shape.change(number), expected.value == record.value else {
                    Issue.record("\(number) is not what it was: \(comment)")
                    continue
                }
            }
        }
        let missing = Set(0..<shape.records).subtracting(kept)
        #expect(missing.subtracting(lost) == [], comment)
        return missing.count
    }

    /// The records whose id or value has some of its bytes among these: all that eight digits in a row name.
    private static func numbers(in page: [UInt8]) -> Set<Int> {
        Set(
            page.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.filter { $0.count >= 8 }.compactMap {
                Int(String(decoding: $0.prefix(8), as: UTF8.self))
            })
    }

    @Test(arguments: Shape.all)
    func `where any one page is overwritten, only what lies on it is lost`(shape: Shape) async throws {
        let whole = try Fixture()
        do {
            let store = try whole.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
        }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: whole.file))), pages = bytes.count / 4_096
        let seed = UInt64(Date.now.timeIntervalSince1970 * 1_000)
        var random = SeededNumbers(seed)
        // The first pages, among them the schema's and the root, and others.
        for page in Set([1, 2, 3, 4] + (0..<12).map { _ in Int.random(in: 1...pages, using: &random) }).sorted() {
            let trial = try Fixture(), start = (page - 1) * 4_096
            let old = bytes[start..<start + 4_096]
            let new =
                page % 3 == 0
                ? [UInt8](repeating: 0, count: 4_096)
                : (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
            var damaged = bytes
            damaged.replaceSubrange(start..<start + 4_096, with: new)
            try Data(damaged).write(to: URL(filePath: trial.file))
            let lost = Self.numbers(in: Array(old))

            let store = try await trial.openAgain()
            let missing = try await expectRecords(
                shape, in: store, but: lost, "page \(page) of \(pages), seed \(seed): \(trial.reports)")
            try await store.write([.save(collection: "books", StoredRecord(id: "new", value: [1]))], in: "library")
            if let report = trial.reports.first {
                #expect(report.code == .storeDamaged)
                let aside = try #require(try trial.names().first { $0.hasPrefix("store.sqlite.damaged-") })
                #expect(report.message.contains(aside))
                let kept = [UInt8](try Data(contentsOf: URL(filePath: "\(trial.folder)/\(aside)")))
                // Opening it before the damage was found has changed the header, and perhaps free pages.
                let changed = (0..<pages).filter { number in
                    let range = number * 4_096..<(number + 1) * 4_096
                    return damaged[range] != kept[range] && !Self.numbers(in: Array(damaged[range])).isEmpty
                }
                #expect(changed == [], "nothing of the damaged file is lost")
                #expect(report.message.contains("lost: ") || missing == 0, "\(report)")
                // Where the counts of the collections were on the page, losses are estimated.
                #expect(
                    missing > 0 || report.message.contains("none was lost") || report.message.contains("at most about"),
                    "\(report)")
            } else {
                #expect(missing == 0, "records on page \(page) went without a word")
            }
        }
    }

    /// The numbers of the pages whose first byte is this, which tells the kind of a b-tree's page.
    private static func pages(in bytes: [UInt8], ofKind kind: UInt8) -> [Int] {
        (2...bytes.count / 4_096).filter { bytes[($0 - 1) * 4_096] == kind }
    }

    @Test(arguments: Shape.all)
    func `where an interior page is overwritten by a leaf, all other leaves are read`(shape: Shape) async throws {
        let whole = try Fixture()
        do {
            let store = try whole.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
        }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: whole.file)))
        let leaf = try #require(Self.pages(in: bytes, ofKind: 0x0D).last)
        for interior in Self.pages(in: bytes, ofKind: 0x05) {
            let trial = try Fixture(), range = (interior - 1) * 4_096..<interior * 4_096
            var damaged = bytes
            damaged.replaceSubrange(range, with: bytes[(leaf - 1) * 4_096..<leaf * 4_096])
            try Data(damaged).write(to: URL(filePath: trial.file))
            let lost = Self.numbers(in: Array(bytes[range]))
            let store = try await trial.openAgain()
            let missing = try await expectRecords(shape, in: store, but: lost, "page \(interior): \(trial.reports)")
            #expect(missing == 0, "an interior page of a table has no records")
            #expect(trial.reports.first?.message.contains("none was lost") == true, "\(trial.reports)")
        }
    }

    @Test func `where a leaf of an index is overwritten by another leaf, no record is lost`() async throws {
        let whole = try Fixture(), shape = Shape.all[0]
        do {
            let store = try whole.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
        }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: whole.file)))
        // Each tree is well formed afterwards: only the index and its table differ.
        let leaves = Self.pages(in: bytes, ofKind: 0x0A)
        for (leaf, other) in zip(leaves, leaves.dropFirst() + leaves.prefix(1)) {
            let trial = try Fixture()
            var damaged = bytes
            damaged.replaceSubrange(
                (leaf - 1) * 4_096..<leaf * 4_096, with: bytes[(other - 1) * 4_096..<other * 4_096])
            try Data(damaged).write(to: URL(filePath: trial.file))
            let store = try await trial.openAgain()
            let missing = try await expectRecords(
                shape, in: store, but: [], "page \(leaf) by \(other): \(trial.reports)")
            #expect(missing == 0)
            try await store.write([.save(collection: "books", StoredRecord(id: "new", value: [1]))], in: "library")
        }
    }

    @Test func `deleted records stay deleted where the list of free pages is damaged`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        do {
            let store = try fixture.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
            try await store.write([.deleteAll(collection: "loans")], in: "library")
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        let trunk = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
        try #require(trunk > 1, "the store has free pages")
        bytes.replaceSubrange((trunk - 1) * 4_096..<trunk * 4_096, with: [UInt8](repeating: 0, count: 4_096))
        try Data(bytes).write(to: URL(filePath: fixture.file))

        let store = try await fixture.openAgain()
        #expect(try await store.read(RecordQuery(collection: "loans"), in: "library").records.isEmpty)
        #expect(try await store.count(RecordQuery(collection: "books"), in: "library") > 0)
    }

    @Test func `the report counts what was saved, and says whose records were lost`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        do {
            let store = try fixture.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
            try await store.write([.save(collection: "visits", StoredRecord(id: "1", value: [1]))], in: "readers")
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        // The page of a record in the middle of the books.
        let place = try #require(bytes.firstRange(of: shape.marker(500))).lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        try Data(bytes).write(to: URL(filePath: fixture.file))

        let store = try await fixture.openAgain()
        var saved = 1, counts: [Int] = []
        for collection in ["books", "loans"] {
            counts.append(try await store.count(RecordQuery(collection: collection), in: "library"))
            saved += counts.last ?? 0
        }
        let message = try #require(fixture.reports.first).message
        #expect(fixture.reports.count == 1)
        #expect(message.contains("\(saved) records in 3 collections were saved"), "\(message)")
        let lost = try shape.records / 2 - #require(counts.first)
        #expect(message.contains("lost: \(lost) of library/books, "), "\(message)")
        #expect(saved < shape.records + 1 && saved > shape.records - 40)
    }

    @Test func `what only the write-ahead log has is saved, too`() async throws {
        let running = try Fixture(), copy = try Fixture(), shape = Shape.all[0]
        try await running.open().write((0..<990).map { shape.change($0) }, in: "library")
        let store = try running.open()
        try await store.write((990..<1_000).map { shape.change($0) }, in: "library")
        // As a kill leaves it: nothing was moved from the log into the file.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: running.file + suffix, toPath: copy.file + suffix)
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: copy.file)))
        #expect(bytes.firstRange(of: shape.marker(999)) == nil, "it is in the log alone")
        let place = try #require(bytes.firstRange(of: shape.marker(500))).lowerBound / 4_096 * 4_096
        let lost = Self.numbers(in: Array(bytes[place..<place + 4_096]))
        bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0x11, count: 4_096))
        try Data(bytes).write(to: URL(filePath: copy.file))

        try await expectRecords(shape, in: try await copy.openAgain(), but: lost, "\(copy.reports)")
        let names = try copy.names()
        #expect(names.contains { $0.hasPrefix("store.sqlite.damaged-") && $0.hasSuffix("-wal") }, "\(names)")
    }

    @Test func `a deleted record does not come back with a repair`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        do {
            let store = try fixture.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
            try await store.write([.deleteAll(collection: "loans")], in: "library")
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        let place = try #require(bytes.firstRange(of: shape.marker(500))).lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        try Data(bytes).write(to: URL(filePath: fixture.file))
        #expect(try await fixture.openAgain().count(RecordQuery(collection: "loans"), in: "library") == 0)
        #expect(fixture.reports.count == 1)
    }

    @Test func `no number is assigned twice after a repair, even where the last changes were deletions`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0], change: Int64
        do {
            let store = try fixture.open()
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
            for number in stride(from: 500, to: shape.records, by: 2) {
                try await store.write([.delete(collection: "books", id: shape.id(number))], in: "library")
            }
            change = try await store.read(RecordQuery(collection: "books", limit: 1), in: "library").change
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        let place = try #require(bytes.firstRange(of: shape.marker(101))).lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        try Data(bytes).write(to: URL(filePath: fixture.file))
        let store = try await fixture.openAgain()
        #expect(fixture.reports.count == 1)
        #expect(try await store.read(RecordQuery(collection: "books", limit: 1), in: "library").change > change)
        let version = try await store.write([shape.change(0)], in: "library")
        #expect(try #require(version.first) > change)
    }

    @Test func `nor where no record is left`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0], marker = shape.marker(0)
        do {
            let store = try fixture.open()
            for _ in 1...3 { try await store.write([shape.change(0)], in: "library") }
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        while let place = bytes.firstRange(of: marker).map({ $0.lowerBound / 4_096 * 4_096 }) {
            bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        }
        try Data(bytes).write(to: URL(filePath: fixture.file))
        let store = try await fixture.openAgain()
        #expect(fixture.reports.count == 1)
        #expect(try await store.count(RecordQuery(collection: "books"), in: "library") == 0)
        let version = try await store.write([shape.change(0)], in: "library")
        #expect(try #require(version.first) > 3)
    }

    // MARK: Who repairs

    private func damage(_ fixture: Fixture) throws -> Data {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        for place in 4_096..<bytes.count { bytes[place] = 0x5A }
        // In the file itself, which another process may have open.
        let file = try FileHandle(forWritingTo: URL(filePath: fixture.file))
        try file.write(contentsOf: Data(bytes))
        try file.close()
        return Data(bytes)
    }

    @Test func `a store that another process has open is not touched, and the error names the process`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        try await fixture.open().write((0..<10).map { shape.change($0) }, in: "library")
        let first = try fixture.open()
        _ = try damage(fixture)
        let before = try fixture.names()
        let error = #expect(throws: BackplaneError.self) { try fixture.open() }
        #expect(error?.code == .storeDamaged)
        #expect(
            error?.message.contains("another open store of this process has it open") == true,
            "\(String(describing: error))")
        #expect(try fixture.names() == before, "neither moved nor copied")
        withExtendedLifetime(first) {}
    }

    @Test func `where it is to be refused it is left as it is`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        try await fixture.open().write((0..<100).map { shape.change($0) }, in: "library")
        let damaged = try damage(fixture), before = try fixture.names()
        let error = #expect(throws: BackplaneError.self) { try fixture.open(damaged: .refuse) }
        #expect(error?.code == .storeDamaged && error?.location == fixture.file)
        #expect(error?.message.contains("was not changed; restore a backup") == true)
        #expect(try Data(contentsOf: URL(filePath: fixture.file)) == damaged)
        #expect(
            try fixture.names().filter { $0.contains("damaged") || $0.contains("salvag") }
                == before.filter { $0.contains("damaged") })
    }

    @Test func `concurrent creations of the store do not collide`() async throws {
        for _ in 0..<20 {
            let fixture = try Fixture(), shape = Shape.all[0]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { try await fixture.open().write([shape.change(number)], in: "library") }
                }
                try await group.waitForAll()
            }
            let store = try fixture.open()
            var count = 0
            for collection in ["books", "loans"] {
                count += try await store.count(RecordQuery(collection: collection), in: "library")
            }
            #expect(count == 8)
        }
    }

    // MARK: Repairs that were killed

    @Test func `a repair that was killed before its copy was whole begins again`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        try await fixture.open().write((0..<shape.records).map { shape.change($0) }, in: "library")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        bytes.replaceSubrange(0..<100, with: [UInt8](repeating: 0, count: 100))
        try Data(bytes).write(to: URL(filePath: fixture.file))
        for suffix in [".salvaging", ".salvaging-journal"] {
            try Data(bytes.prefix(10_000)).write(to: URL(filePath: fixture.file + suffix))
        }
        try await expectRecords(shape, in: try fixture.open(), but: [], "\(fixture.reports)")
        #expect(try !fixture.names().contains { $0.contains("salvag") })
    }

    @Test func `what a killed repair left is removed, even where a backup has taken the store's place`() async throws {
        let fixture = try Fixture()
        var shape = Shape.all[0]
        shape.records = 10
        try await fixture.open().write((0..<10).map { shape.change($0) }, in: "library")
        for suffix in [".salvaging", ".salvaging-journal"] {
            try Data(repeating: 0x55, count: 10_000).write(to: URL(filePath: fixture.file + suffix))
        }
        try await expectRecords(shape, in: try fixture.open(), but: [], "\(fixture.reports)")
        #expect(fixture.reports.isEmpty)
        #expect(try fixture.names().filter { $0.contains("salvag") } == [])
    }

    @Test func `a repair that was killed once its copy was whole is finished`() async throws {
        let sound = try Fixture(), fixture = try Fixture(), shape = Shape.all[0]
        try await sound.open().write((0..<shape.records).map { shape.change($0) }, in: "library")
        try FileManager.default.copyItem(atPath: sound.file, toPath: fixture.file + ".salvaged")
        try Data(repeating: 0x33, count: 50_000).write(to: URL(filePath: fixture.file))
        try Data(repeating: 0x44, count: 50_000).write(to: URL(filePath: fixture.file + "-wal"))
        try await expectRecords(shape, in: try fixture.open(), but: [], "\(fixture.reports)")
        #expect(try !fixture.names().contains { $0.contains("salvag") })
        let aside = try #require(
            try fixture.names().first { $0.hasPrefix("store.sqlite.damaged-") && !$0.hasSuffix("-wal") })
        #expect(fixture.reports.count == 1 && fixture.reports[0].message.contains(aside), "\(fixture.reports)")
        #expect(
            try Data(contentsOf: URL(filePath: "\(fixture.folder)/\(aside)")) == Data(repeating: 0x33, count: 50_000))
        #expect(
            try Data(contentsOf: URL(filePath: "\(fixture.folder)/\(aside)-wal"))
                == Data(repeating: 0x44, count: 50_000))
    }

    @Test func `several indexes of texts do not hide where the records are`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        do {
            let store = try fixture.open()
            // Their tables make the schema longer than the first page.
            for number in 0..<8 {
                let index = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
                try await store.define(CollectionDefinition("texts \(number)", indexes: [index]), in: "library")
                let value = Array(#"{"title":"a title of number \#(number)"}"#.utf8)
                try await store.write(
                    [.save(collection: "texts \(number)", StoredRecord(id: "1", value: value))], in: "library")
            }
            try await store.write((0..<shape.records).map { shape.change($0) }, in: "library")
        }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        #expect(bytes[100] == 5, "the schema has more than one page")
        let place = try #require(bytes.firstRange(of: shape.marker(500))).lowerBound / 4_096 * 4_096
        let lost = Self.numbers(in: Array(bytes[place..<place + 4_096]))
        bytes.replaceSubrange(place..<place + 4_096, with: [UInt8](repeating: 0xAA, count: 4_096))
        try Data(bytes).write(to: URL(filePath: fixture.file))
        let store = try await fixture.openAgain()
        let missing = try await expectRecords(shape, in: store, but: lost, "one page is overwritten")
        #expect(missing > 0)
        for number in 0..<8 {
            let page = try await store.read(RecordQuery(collection: "texts \(number)"), in: "library")
            #expect(page.records.map(\.id) == ["1"])
        }
        let report = try #require(fixture.reports.last { $0.message.contains("were saved into a new file") })
        #expect(!report.message.contains("unknown collections"), "\(report)")
        let index = IndexDefinition(paths: ["title"], name: "words", text: TextIndexing())
        try await store.define(CollectionDefinition("texts 7", indexes: [index]), in: "library")
        let words = RecordQuery(collection: "texts 7", .search(index: "words", text: "number 7"))
        #expect(try await store.count(words, in: "library") == 1)
    }

    @Test func `pages of the schema that lead to each other are read once`() async throws {
        let fixture = try Fixture(), shape = Shape.all[0]
        try await fixture.open().write((0..<shape.records).map { shape.change($0) }, in: "library")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture.file)))
        let count = bytes.count / 4_096
        /// Makes a page of the schema whose 400 cells and right child are all one page.
        func lead(from page: Int, to child: Int) {
            let start = (page - 1) * 4_096 + (page == 1 ? 100 : 0), end = page * 4_096
            let number = (0..<4).map { UInt8(truncatingIfNeeded: child >> (24 - 8 * $0)) }
            let cell: [UInt8] = [0x0F, 0xFB]
            bytes.replaceSubrange(
                start..<start + 12, with: [0x05, 0, 0, 1, 0x90, cell[0], cell[1], 0] + number)
            for place in 0..<400 { bytes.replaceSubrange(start + 12 + 2 * place..<start + 14 + 2 * place, with: cell) }
            bytes.replaceSubrange(end - 5..<end, with: number + [1])
        }
        bytes += [UInt8](repeating: 0, count: 2 * 4_096)
        lead(from: 1, to: count + 1)
        lead(from: count + 1, to: count + 2)
        lead(from: count + 2, to: count + 1)
        try Data(bytes).write(to: URL(filePath: fixture.file))
        try await expectRecords(shape, in: try fixture.open(), but: [], "\(fixture.reports)")
        #expect(fixture.reports.count == 1, "\(fixture.reports)")
    }
}
