import Backplane
import BackplaneConformance
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Testing

/// The requirements of every store, in each engine.
@Suite(.timeLimit(.minutes(5)))
struct RecordStoreTests {
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case memory
        case sqlite

        var testDescription: String { rawValue }

        func open(in folder: String) throws -> any RecordStore {
            switch self {
            case .memory: MemoryRecordStore()
            case .sqlite:
                // What waits for the disk is a matter of DurabilityTests.
                try SQLiteRecordStore(folder: folder, durability: .normal) {
                    Issue.record("nothing was damaged: \($0)")
                }
            }
        }

        func waitingTasks(of store: any RecordStore) -> Int {
            switch store {
            case let store as MemoryRecordStore: store.waitingTasks
            case let store as SQLiteRecordStore: store.waitingTasks
            default: 0
            }
        }
    }

    @Test(arguments: Engine.allCases, RecordStoreConformance.requirements)
    func `an engine does what every store must do`(
        engine: Engine, requirement: RecordStoreConformance.Requirement
    ) async throws {
        let files = try TestFolder(), folder = files.path
        let store = try engine.open(in: folder)
        try await requirement.check(store) { engine.waitingTasks(of: store) }
    }

    @Test(arguments: Engine.allCases) func `offsets are emulated, with the number of all records`(engine: Engine)
        async throws
    {
        let files = try TestFolder(), folder = files.path
        let store = try engine.open(in: folder), ids = (0..<10_050).map { "\(100_000 + $0)" }
        try await store.write(
            ids.map { .save(collection: "books", StoredRecord(id: $0, value: Array("{}".utf8))) }, in: "A")
        func page(_ offset: Int, _ limit: Int, _ wanted: [String]? = nil) async throws -> ([String], Int) {
            let page = try await store.page(of: "books", ids: wanted, offset: offset, limit: limit, in: "A")
            return (page.records.map(\.id), page.total)
        }
        for (offset, limit) in [(0, Int.max), (1, 1), (10_020, 40), (10_050, 1), (20_000, 1), (0, 0), (7, 10_001)] {
            let (found, total) = try await page(offset, limit)
            #expect(found == Array(ids.dropFirst(offset).prefix(limit)), "\(offset), \(limit)")
            #expect(total == ids.count)
        }
        let (found, total) = try await page(1, 2, ["100003", "none", "100001", "100002", "100001"])
        #expect(found == ["100002", "100003"])
        #expect(total == 3)
        #expect(try await store.page(of: "none", in: "A").total == 0)
    }
}
