import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A copy has all that its library has from the beginning, and gives back later what no code needs.
@Suite(.timeLimit(.minutes(10)))
struct LibraryCopyTests {
    private let folder: TestFolder
    private let loads: LoadFolder
    private let bytes: [UInt8]
    private let path: String

    init() throws {
        folder = try TestFolder()
        loads = try LoadFolder(in: folder.path + "/loads")
        bytes = try FixtureLibrary.bytes("Hostile")
        path = try folder.write(bytes, as: "libBulky.so")
    }

    private func contents(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Where the bytes of `.bulk` lie, which nothing loads.
    private var bulk: Range<Int> {
        get throws { try #require(ELFImage(bytes).range(ofSection: ".bulk")) }
    }

    private func blocks(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return Int(status.st_blocks)
    }

    @Test func `a file is copied whole to another file system`() throws {
        let memory = try FileDescriptor(
            opening: "/dev/shm", O_RDWR | Int32(bitPattern: 0o20200000) /* O_TMPFILE */, mode: 0o600)
        let source = try FileDescriptor(opening: path, O_RDONLY)
        #expect(try source.copyContents(bytes.count, to: memory) == bytes.count)
        try #require(lseek(memory.number, 0, SEEK_SET) == 0)
        #expect(try memory.bytes(count: bytes.count + 1) == bytes)
    }

    @Test func `what is given back takes no room, and the code runs on`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        let entry = unsafeBitCast(try file.load().symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
        let before = try blocks(file.copy)

        LoadFolder.giveRoomBack(file.unmapped, of: file.copy)

        #expect(try PluginDescription(asking: entry, getInterface: { _, _ in nil }).components.isEmpty == false)
        let mapped = try ELFImage(bytes).loaded, now = try contents(file.copy)
        #expect(now.count == bytes.count)
        for range in mapped { #expect(now[range] == bytes[range]) }
        guard file.unmapped.allSatisfy({ now[$0].allSatisfy { $0 == 0 } }) else {
            try Test.cancel("this file system cannot give room back")
        }
        #expect(try before - blocks(file.copy) >= bulk.count / 512 - 16)
        LoadFolder.giveRoomBack(file.unmapped, of: file.copy)
        LoadFolder.giveRoomBack([0..<4_096], of: "/no/such/copy.so")
    }

    @Test func `a copy is what it was loaded from, before and after it gave room back, and no other build is`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        func changed(at offset: Int, as name: String) throws -> String {
            var other = bytes
            other[offset] ^= 1
            return try folder.write(other, as: name)
        }
        let rebuilt = try changed(at: 5_000, as: "libRebuilt.so"),
            resymboled = try changed(at: bulk.lowerBound + 10_000, as: "libResymboled.so")
        func isSame(_ path: String) -> Bool { LibraryFile.isSame(path, as: file.copy, unmapped: file.unmapped) }

        #expect(isSame(path) && !isSame(rebuilt) && !isSame(resymboled))
        LoadFolder.giveRoomBack(file.unmapped, of: file.copy)
        #expect(isSame(path) && !isSame(rebuilt))
    }
}
