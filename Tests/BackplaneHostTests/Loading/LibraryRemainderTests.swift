import Backplane
@testable import BackplaneHost
import BackplaneNetwork
import Foundation
import Testing

/// What a copy is loaded without: it comes later, or never, and nothing that runs notices.
@Suite(.timeLimit(.minutes(10)))
struct LibraryRemainderTests {
    private let folder: LoadingFixture.Folder
    private let loads: LoadFolder
    private let bytes: [UInt8]
    private let path: String

    init() throws {
        folder = try LoadingFixture.Folder()
        loads = try LoadFolder(in: folder.path + "/loads")
        bytes = try LoadingFixture.library("-DBULKY")
        path = try folder.write(bytes, as: "libBulky.so")
    }

    private func contents(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Where the bytes of `.bulk` lie, which nothing loads.
    private var bulk: Range<Int> {
        get throws { try #require(ELFImage(bytes).sections.first { $0.name == ".bulk" }).range }
    }

    /// Its first bytes may stand in the last page of what is loaded.
    private func isMissing(_ file: LibraryFile) throws -> Bool {
        try contents(file.copy)[bulk].dropFirst(Int(getpagesize())).allSatisfy { $0 == 0 }
    }

    /// Makes the remainder of a copy by hand, for what happens while it is filled.
    private func remainder(of file: LibraryFile) throws -> LibraryRemainder {
        let source = try FileDescriptor(opening: path, O_RDONLY)
        let outline = ELFOutline(of: source, size: bytes.count)
        return LibraryRemainder(of: (path, file.status), copy: file.copy, at: try #require(outline).unneeded)
    }

    private func append(_ bytes: [UInt8]) throws {
        let writer = try #require(FileHandle(forWritingAtPath: path))
        try writer.seekToEnd()
        try writer.write(contentsOf: Data(bytes))
    }

    @Test func `a copy is loaded without it, and is the whole file soon after`() throws {
        let file = try LibraryFile.prepare(path, in: loads)

        #expect(try isMissing(file))
        #expect(try contents(file.copy).count == bytes.count)
        let loaded = try contents(file.copy).prefix(bulk.lowerBound / 4_096 * 4_096)
        #expect(loaded.elementsEqual(bytes.prefix(loaded.count)))
        #expect(file.identity.id == "org.example.test")

        _ = try file.load()
        loads.remainders.waitUntilIdle()

        #expect(try contents(file.copy) == bytes)
    }

    @Test func `what is only prepared is never filled`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        loads.remainders.waitUntilIdle()
        #expect(try isMissing(file))
    }

    @Test func `a small library is copied whole at once`() throws {
        let small = try folder.write(LoadingFixture.library(), as: "libSmall.so")
        let file = try LibraryFile.prepare(small, in: loads)
        #expect(try contents(file.copy) == LoadingFixture.library())
    }

    @Test func `a library with a digest is copied whole, and all of it is digested`() throws {
        struct Count: ContentDigest {
            func sha256(of bytes: [UInt8]) -> [UInt8] { [UInt8](repeating: UInt8(bytes.reduce(0) { ($0 + Int($1)) % 256 }), count: 32) }
        }
        let text = LibraryFile.text(ofDigest: Count().sha256(of: bytes))
        let file = try LibraryFile.prepare(path, sha256: text, in: loads, digest: Count())
        #expect(try contents(file.copy) == bytes)

        var changed = bytes
        changed[try bulk.lowerBound] ^= 1
        let other = try folder.write(changed, as: "libChanged.so")
        let error = #expect(throws: BackplaneError.self) { try LibraryFile.prepare(other, sha256: text, in: loads, digest: Count()) }
        #expect(error?.code == .pluginDigestMismatch)
    }

    @Test func `it stays missing when the file was written to since, whatever was loaded`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        try append([1])
        _ = try file.load()
        loads.remainders.waitUntilIdle()
        #expect(try isMissing(file))
    }

    @Test func `it stays missing when the file is gone`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        unlink(path)
        _ = try file.load()
        loads.remainders.waitUntilIdle()
        #expect(try isMissing(file))
    }

    @Test func `it is taken out again when the file is written to while it is copied`() throws {
        let file = try LibraryFile.prepare(path, in: loads), remainder = try remainder(of: file)
        var pieces = 0
        remainder.fill {
            pieces += 1
            if pieces == 2 { try? append([1]) }
            return true
        }
        #expect(pieces > 2, "the test means a file of several pieces")
        #expect(try isMissing(file))
        #expect(try contents(file.copy).suffix(64) == bytes.suffix(64), "the table of sections stays")
    }

    @Test func `a host that goes stops it half-way`() throws {
        let file = try LibraryFile.prepare(path, in: loads), remainder = try remainder(of: file)
        var pieces = 0
        remainder.fill {
            pieces += 1
            return pieces < 2
        }
        #expect(pieces == 2)
        #expect(try isMissing(file))
    }

    @Test func `a folder that is gone fills nothing more`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        loads.remainders.stop()
        _ = try file.load()
        loads.remainders.waitUntilIdle()
        #expect(try isMissing(file))
    }

    @Test func `dropping it gives its room back while the code runs on`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        let entry = unsafeBitCast(try file.load().symbol(LibraryFile.entry), to: (@convention(c) (Int, Int) -> Int32).self)
        loads.remainders.waitUntilIdle()
        let before = try blocks(file.copy)

        loads.dropRemainder(of: file.copy)
        loads.remainders.waitUntilIdle()

        #expect(entry(0, 0) == 0)
        #expect(try isMissing(file))
        #expect(try before - blocks(file.copy) >= bulk.count / 512 - 16)
        let image = try ELFImage(contents(file.copy))
        #expect(image.defines(symbol: LibraryFile.entry), "what it exports has its name still")
        loads.dropRemainder(of: file.copy)
        loads.dropRemainder(of: "/no/such/copy.so")
    }

    @Test func `dropping it while it is copied wins`() throws {
        let file = try LibraryFile.prepare(path, in: loads), remainder = try remainder(of: file)
        var pieces = 0
        remainder.fill {
            pieces += 1
            if pieces == 2 { #expect(!remainder.drop(), "it is not there yet") }
            return true
        }
        #expect(pieces == 2)
        #expect(try isMissing(file))
        remainder.fill()
        #expect(try isMissing(file), "what was dropped stays so")
        #expect(throws: Never.self) { try ELFImage(contents(file.copy)) }
    }

    @Test func `a copy is what it was loaded from, with and without its symbols, and no other build is`() throws {
        let file = try LibraryFile.prepare(path, in: loads)
        var other = bytes
        other[other.startIndex + 5_000] ^= 1
        let rebuilt = try folder.write(other, as: "libRebuilt.so")
        func isRecognised() -> Bool { LibraryFile.isSame(path, as: file.copy, in: loads) }
        func isMistaken() -> Bool { LibraryFile.isSame(rebuilt, as: file.copy, in: loads) }

        #expect(isRecognised() && !isMistaken(), "before it has them")
        _ = try file.load()
        loads.remainders.waitUntilIdle()
        #expect(isRecognised() && !isMistaken(), "with them")
        other = bytes
        other[try bulk.lowerBound + 10_000] ^= 1
        #expect(!LibraryFile.isSame(try folder.write(other, as: "libResymboled.so"), as: file.copy, in: loads), "they count where they are there")
        loads.dropRemainder(of: file.copy)
        loads.remainders.waitUntilIdle()
        #expect(isRecognised() && !isMistaken(), "after they were taken out")
    }

    private func blocks(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return Int(status.st_blocks)
    }
}
