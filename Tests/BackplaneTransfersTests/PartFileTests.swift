import Backplane
import BackplaneNetwork
import Foundation
import Glibc
import Testing

@testable import BackplaneTransfers

/// The part file, its record, and what others do to both.
struct PartFileTests {
    private static let origin = PartRecord(url: "http://books.test/whale", validator: "\"1\"", length: 1 << 20)
    private let fixture: TransferFixture
    private let content = TransferFixture.content(600_000)

    init() throws { fixture = try TransferFixture() }

    /// Writes a part of the content, of which 400,000 bytes are flushed, and returns the path of its record.
    @discardableResult
    private func write(isLeft: Bool) throws -> String {
        let part = try PartFile(target: fixture.path())
        try part.begin(Self.origin)
        try part.append(Array(content[..<400_000]))
        try part.sync(400_000)
        try part.append(Array(content[400_000...]))
        if isLeft { try part.leave() }
        return part.path + ".json"
    }

    private func restored() throws -> (count: Int64, origin: PartRecord?, hadBytes: Bool) {
        let part = try PartFile(target: fixture.path())
        let found = try part.restore()
        let bytes = try Data(contentsOf: URL(filePath: part.path))
        #expect(Array(bytes) == Array(content.prefix(Int(part.count))), "all else is dropped")
        return (part.count, found.origin, found.hadBytes)
    }

    private func change(_ record: String, _ change: (inout PartRecord) -> Void) throws {
        var changed = try JSONDecoder().decode(PartRecord.self, from: Data(contentsOf: URL(filePath: record)))
        change(&changed)
        try JSONEncoder().encode(changed).write(to: URL(filePath: record))
    }

    @Test func `what was written is there, whether the process has left the part or was killed`() throws {
        for isLeft in [true, false] {
            try write(isLeft: isLeft)
            let found = try restored()
            #expect(found.count == 600_000 && found.origin?.validator == "\"1\"" && found.hadBytes)
            #expect(found.origin?.url == Self.origin.url && found.origin?.length == 1 << 20)
        }
    }

    @Test func `after a power failure, the bytes that were flushed are used`() throws {
        let record = try write(isLeft: false)
        try change(record) { $0.boot = "another run of the system" }
        #expect(try restored().count == 400_000)
    }

    @Test(arguments: [0, 1, 599_999, 700_000])
    func `of a part that was shortened or extended, the bytes that were written remain`(length: Int) throws {
        let record = try write(isLeft: true)
        #expect(truncate(String(record.dropLast(".json".count)), length) == 0)
        #expect(try restored().count == min(length, 600_000))
    }

    @Test(arguments: ["", "{", "[]"])
    func `a part without a record that can be read is not used`(text: String) throws {
        let record = try write(isLeft: true)
        try Data(text.utf8).write(to: URL(filePath: record))
        let found = try restored()
        #expect(found.count == 0 && found.origin == nil && found.hadBytes)
    }

    @Test func `the record of a new origin replaces a longer one`() throws {
        let part = try PartFile(target: fixture.path())
        var long = Self.origin
        long.url += String(repeating: "a", count: 10_000)
        try part.begin(long)
        try part.append([1])
        try part.sync(1)
        try part.begin(Self.origin)
        try part.append(Array(content[..<10]))
        try part.leave()
        part.close()
        #expect(try restored().origin?.url == Self.origin.url)
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
