#if Engines
import BackplaneTestKit
import Backplane
import BackplaneHost
import BookshelfContracts
import Foundation
import Glibc
import Testing

/// The application with its database file gone, damaged, or not to be written.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseTests {
    private let query = BookQuery(text: "whale")
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Searches once with the server up, so that there is a database.
    private func fill() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _, library in _ = try await library.search(query)
            }
        }
    }

    @Test func `a file that is gone is made again, and what it kept is gone`() async throws {
        try await fill()
        let store = try folder.store()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            await #expect(throws: BackplaneError.self) { try await library.search(query) }
        }
        try await fill()
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            let found = try await library.search(query)
            #expect(found.source != .network)
        }
    }

    @Test func `a damaged file is moved aside and reported, and the application continues`() async throws {
        try await fill()
        let store = try folder.store()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
        try Data(repeating: 0x2E, count: 8_192).write(to: URL(filePath: store))
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { shelf, library in
                let found = try await library.search(query)
                #expect(found.source == .network)
                let reports = shelf.log.records.filter { $0.message == "the store is or was damaged" }
                #expect(reports.count == 1)
                #expect(reports.first?.metadata["error"]?.contains(".damaged-") == true)
            }
        }
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            let found = try await library.search(query)
            #expect(found.source != .network, "the new file keeps")
        }
    }

    @Test func `a file that may not be written costs the keeping, not the answer`() async throws {
        try await fill()
        let place = URL(filePath: try folder.store()).deletingLastPathComponent().path
        // The rights of a file do not bind the superuser; a read-only mount binds everybody.
        guard mount("none", place, nil, UInt(MS_BIND), nil) == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(place, Int32(MNT_DETACH)) }
        try #require(mount("none", place, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { shelf, library in
                let found = try await library.search(query)
                #expect(found.source == .network)
                let told = shelf.log.records.filter { $0.source == "LibraryManager" && $0.level >= .warning }
                #expect(told.count == 1)
                #expect(told.first?.metadata["error"]?.contains("store.unusable") == true)
            }
        }
    }
}
#endif
