import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Testing

/// A store whose file was damaged: whose it is, and that it is left alone.
@Suite(.timeLimit(.minutes(10)))
struct DamagedStoreTests {
    /// A folder with a store.
    final class Fixture: Sendable {
        let files: TestFolder
        var folder: String { files.path }
        var file: String { folder + "/store.sqlite" }

        init() throws { files = try TestFolder() }

        func open(damaged: DamagedStorePolicy = .salvage) throws -> SQLiteRecordStore {
            try SQLiteRecordStore(folder: folder, damaged: damaged) { _ in }
        }

        /// The names of the files beside the store that begin with its name.
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    private static func change(_ number: Int) -> RecordChange {
        .save(collection: "books", StoredRecord(id: "\(number)", value: Array(repeating: 7, count: 200)))
    }

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
        let fixture = try Fixture()
        try await fixture.open().write((0..<10).map { Self.change($0) }, in: "library")
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
        let fixture = try Fixture()
        try await fixture.open().write((0..<100).map { Self.change($0) }, in: "library")
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
            let fixture = try Fixture()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { try await fixture.open().write([Self.change(number)], in: "library") }
                }
                try await group.waitForAll()
            }
            let store = try fixture.open()
            #expect(try await store.count(RecordQuery(collection: "books"), in: "library") == 8)
        }
    }
}
