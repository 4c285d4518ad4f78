import Backplane
import BackplaneNetwork
import Foundation
import Glibc
import Testing

@testable import BackplaneTransfers

/// The part file, its record, and what others do to both.
@Suite(.timeLimit(.minutes(2)))
struct PartFileTests {
    private static let origin = PartOrigin(resource: 7, validator: "\"1\"", length: 1 << 20)
    private let fixture: TransferFixture
    private let content = TransferFixture.content(600_000)

    init() throws { fixture = try TransferFixture() }

    /// Writes a part of the content, and returns its path.
    @discardableResult
    private func write(_ count: Int, piece: Int = 50_000, marks: Bool = true) throws -> String {
        let part = try PartFile(target: fixture.path())
        try part.begin(Self.origin)
        for start in stride(from: 0, to: count, by: piece) {
            try part.append(Array(content[start..<min(start + piece, count)]))
        }
        if marks { try part.mark() }
        try part.sync()
        return part.path
    }

    private func restored() throws -> (count: Int64, origin: PartOrigin?, hadBytes: Bool) {
        let part = try PartFile(target: fixture.path())
        let found = try part.restore()
        #expect(try Int(part.count) == Data(contentsOf: URL(filePath: part.path)).count, "all else is dropped")
        return (part.count, found.origin, found.hadBytes)
    }

    @Test func `what was written is there, also without the last mark`() throws {
        try write(600_000)
        #expect(try restored() == (600_000, Self.origin, true))
        try write(600_000, marks: false)
        let found = try restored()
        #expect(600_000 - found.count < PartFile.markInterval && found.count > 0)
    }

    @Test func `a part and its record can be read by their owner alone`() throws {
        let path = try write(10)
        for path in [path, path + ".record"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: [0, 1, 299_999, 300_000, 599_999])
    func `a part that was shortened has the greatest mark that is left`(length: Int) throws {
        let path = try write(600_000)
        #expect(truncate(path, length) == 0)
        let count = try restored().count
        #expect(count <= length && length - Int(count) < Int(PartFile.markInterval) + 50_000)
    }

    @Test func `what others have appended is dropped`() throws {
        let path = try write(600_000)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 1, count: 100_000))
        try file.close()
        #expect(try restored().count == 600_000)
    }

    @Test func `a mark whose bytes never reached the disk is not believed`() throws {
        let path = try write(600_000)
        // As after a power failure: the length is there, the last bytes are not.
        let file = open(path, O_WRONLY)
        let zeros = [UInt8](repeating: 0, count: 100_000)
        #expect(pwrite(file, zeros, zeros.count, 500_000) == zeros.count)
        close(file)
        let count = try restored().count
        #expect(count > 0 && count <= 500_000)
    }

    @Test func `a part belongs to one at a time`() throws {
        let part = try PartFile(target: fixture.path())
        let error = #expect(throws: BackplaneError.self) { try PartFile(target: fixture.path()) }
        #expect(error?.code == .transferTaken)
        part.remove()
        _ = try PartFile(target: fixture.path())
    }

    @Test func `the name of a part fits wherever the target's does`() throws {
        let name = String(repeating: "ü", count: 127)
        let part = try PartFile(target: fixture.path(name))
        try part.begin(Self.origin)
        try part.append([1])
        #expect(try part.finish(.replace) == fixture.path(name))
        #expect(fixture.names == [name])
    }

    @Test(arguments: ["", "/", "a/", ".", "..", "/tmp/..", "a\0b"])
    func `what is no path of a file is refused`(path: String) {
        let error = #expect(throws: BackplaneError.self) { try PartFile(target: path) }
        #expect(error?.code == .networkFile)
    }

    @Test func `an existing file is replaced, kept or numbered`() throws {
        func finish(_ policy: ExistingFile, _ byte: UInt8) throws -> String? {
            let part = try PartFile(target: fixture.path())
            try part.begin(Self.origin)
            try part.append([byte])
            return try part.finish(policy)
        }
        #expect(try finish(.keep, 1) == fixture.path())
        #expect(try finish(.keep, 2) == nil)
        #expect(try fixture.bytes() == [1])
        #expect(try finish(.replace, 3) == fixture.path())
        #expect(try fixture.bytes() == [3])
        #expect(try finish(.number, 4) == fixture.path("whale-2.epub"))
        #expect(try finish(.number, 5) == fixture.path("whale-3.epub"))
        #expect(fixture.names == ["whale-2.epub", "whale-3.epub", "whale.epub"])
        #expect(TargetPath("/a/.hidden")?.numbered(2) == "/a/.hidden-2")
        #expect(TargetPath("name")?.numbered(2) == "name-2")
    }
}
