import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import GRDB
import Testing

/// Stores of a version to come.
@Suite(.timeLimit(.minutes(10)))
final class StoreMigrationTests {
    private let files: TestFolder
    private var folder: String { files.path }
    private var file: String { folder + "/store.sqlite" }

    init() throws { files = try TestFolder() }

    private func open() throws -> SQLiteRecordStore {
        try SQLiteRecordStore(folder: folder) { Issue.record("\($0)") }
    }

    @Test func `a store of a newer version is refused and not touched`() async throws {
        try await open().write([.save(collection: "books", StoredRecord(id: "1", value: []))], in: "A")
        let queue = try DatabaseQueue(path: file)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('records-of-tomorrow')") }
        try queue.close()
        let before = try Data(contentsOf: URL(filePath: file))
        let error = #expect(throws: BackplaneError.self) { try self.open() }
        #expect(error?.code == .storeUnusable)
        #expect(error?.message.contains("`records-of-tomorrow`") == true, "\(String(describing: error))")
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }
}
