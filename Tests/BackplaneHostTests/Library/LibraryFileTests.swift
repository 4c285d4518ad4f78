import Backplane
import BackplaneExchange
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Every step on the way from a file to a loaded library, against real files.
@Suite(.timeLimit(.minutes(10)))
struct LibraryFileTests {
    private let folder: TestFolder
    private let loads: LoadFolder

    init() throws {
        folder = try TestFolder()
        loads = try LoadFolder(in: folder.path + "/loads")
    }

    /// The error that a library is refused with, after making sure that nothing of it ran and no copy stayed.
    private func refusal(
        of path: String, sha256: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> BackplaneError? {
        let error = #expect(throws: BackplaneError.self, sourceLocation: sourceLocation) {
            try LibraryFile.prepare(path, sha256: sha256, in: loads)
        }
        #expect(error?.location == path, "the error says which file it is about", sourceLocation: sourceLocation)
        #expect(!FileContents.exists(path + ".ran"), "code of a refused library ran", sourceLocation: sourceLocation)
        #expect(
            try FileTree.names(in: loads.path) == ["lock"], "something of a refused library stayed",
            sourceLocation: sourceLocation)
        return error
    }

    @Test func `a sound library is prepared without running, then loaded`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libSound.so")

        let file = try LibraryFile.prepare(path, in: loads)

        #expect(file.path == path)
        #expect(FilePath.folder(of: file.copy) == loads.path)
        #expect(try FileStatus(at: file.copy).mode == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.copy)) == Data(LoadingFixture.library()))
        #expect(file.identity.id == "org.example.test")
        #expect(file.identity.version == "1.2.3")
        #expect(!FileContents.exists(file.copy + ".ran"), "preparing ran code")

        let library = try file.load()

        #expect(FileContents.exists(file.copy + ".ran"), "the control: loading runs the constructor")
        #expect(!FileContents.exists(path + ".ran"), "the original was loaded, not the copy")
        _ = try library.symbol("backplane_plugin_entry_v1")
        let missing = #expect(throws: BackplaneError.self) { try library.symbol("backplane_plugin_entry_v2") }
        #expect(missing?.message.contains("backplane_plugin_entry_v2") == true)
    }

    @Test func `every load of one file is a library of its own`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libTwice.so")

        let (first, second) = try (LibraryFile.prepare(path, in: loads), LibraryFile.prepare(path, in: loads))

        #expect(first.copy != second.copy)
        #expect(try first.load().symbol(LibraryFile.entry) != second.load().symbol(LibraryFile.entry))
    }

    // MARK: Trust

    /// Something at a path, and what a host says of it.
    private static let untrusted: [(what: String, code: BackplaneError.Code, words: String)] = [
        ("nothing", .pluginNotFound, ""), ("a link", .pluginUntrusted, "symbolic link"),
        ("a folder", .pluginUntrusted, "a folder"), ("a pipe", .pluginUntrusted, ""),
        ("777", .pluginUntrusted, "777"), ("646", .pluginUntrusted, "646"), ("602", .pluginUntrusted, "602"),
        ("1777", .pluginUntrusted, "1777"), ("a script", .pluginDamaged, "not ELF"),
    ]

    @Test(arguments: untrusted.indices)
    func `what is no library of its user's own is refused, and a pipe is not waited for`(index: Int) throws {
        let (what, code, words) = Self.untrusted[index]
        var path = folder.path + "/libOdd.so"
        switch what {
        case "nothing": break
        case "a link":
            path = try folder.link("libOdd.so", to: folder.write(LoadingFixture.library(), as: "libTarget.so"))
        case "a folder": path = try folder.makeFolder("libOdd.so")
        case "a pipe": try #require(mkfifo(path, 0o600) == 0)
        case "a script": try folder.write(Array("GROUP ( libm.so.6 )\n".utf8), as: "libOdd.so")
        default: try folder.write(LoadingFixture.library(), as: "libOdd.so", mode: try #require(UInt32(what, radix: 8)))
        }
        let error = try refusal(of: path)
        #expect(
            error?.code == code && (words.isEmpty || error?.message.contains(words) == true),
            "\(what): \(String(describing: error))")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `a file of another user is refused`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libForeign.so")
        try #require(chown(path, 12345, 12345) == 0)
        let error = try refusal(of: path)
        #expect(error?.code == .pluginUntrusted)
        #expect(error?.message.contains("12345") == true)
    }

    @Test func `a file that is written to while it is copied is refused`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libGrowing.so")
        let file = try LibraryCopy.open(path)
        let status = try LibraryCopy.trustedStatus(of: file, path)
        let writer = try #require(FileHandle(forWritingAtPath: path))
        try writer.seekToEnd()
        try writer.write(contentsOf: Data(repeating: 0, count: 1 << 20))

        let error = #expect(throws: BackplaneError.self) {
            try LibraryCopy.copyContents(of: file, status, to: loads.newCopyPath(for: "libGrowing.so"), path)
        }
        #expect(error?.code == .pluginUnreadable)
        #expect(error?.message.contains("while it was being copied") == true)
    }

    @Test func `a copy never replaces what is there`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libSound.so")
        let taken = try folder.write([1, 2, 3], as: "taken")
        let file = try LibraryCopy.open(path)
        let status = try LibraryCopy.trustedStatus(of: file, path)
        #expect(throws: BackplaneError.self) { try LibraryCopy.copyContents(of: file, status, to: taken, path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: taken)) == Data([1, 2, 3]))
    }

    // MARK: Digest

    @Test func `a digest that fits is accepted, in capitals too`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libSound.so")
        let expected = ContentDigest.sha256(of: try LoadingFixture.library()).hexadecimal
        _ = try LibraryFile.prepare(path, sha256: expected, in: loads)
        _ = try LibraryFile.prepare(path, sha256: expected.uppercased(), in: loads)
    }

    @Test func `one changed byte is refused, naming both digests`() throws {
        var bytes = try LoadingFixture.library()
        let expected = ContentDigest.sha256(of: bytes).hexadecimal
        bytes[bytes.count / 2] ^= 1
        let error = try refusal(of: folder.write(bytes, as: "libChanged.so"), sha256: expected)
        #expect(error?.code == .pluginDigestMismatch)
        #expect(error?.message.contains(expected) == true)
        #expect(error?.message.contains(ContentDigest.sha256(of: bytes).hexadecimal) == true)
    }

    @Test(arguments: ["", "abc", String(repeating: "g", count: 64)])
    func `a digest that is none never fits`(text: String) throws {
        let error = try refusal(
            of: folder.write(LoadingFixture.library(), as: "libSound.so"), sha256: text)
        #expect(error?.code == .pluginDigestMismatch)
    }

    // MARK: Image

    @Test func `a library for another machine is refused, naming both`() throws {
        var bytes = try LoadingFixture.library()
        bytes[18] = ELFImage.machine.number == 183 ? 62 : 183
        let error = try refusal(of: folder.write(bytes, as: "libForeign.so"))
        #expect(error?.code == .pluginWrongMachine)
        #expect(error?.message.contains("x86-64") == true)
        #expect(error?.message.contains("aarch64") == true)
    }

    // MARK: Entry and identity

    @Test(arguments: ["hidden", "undefined", "data"])
    func `a library that does not export the entry function is refused with advice`(entry: String) throws {
        var bytes = try LoadingFixture.library()
        let (record, name) = try LoadingFixture.symbol(LibraryFile.entry, of: bytes)
        switch entry {
        case "hidden": bytes[name] = UInt8(ascii: "x")
        case "undefined": bytes.replaceSubrange(record + 6..<record + 8, with: [0, 0])
        default: bytes[record + 4] = bytes[record + 4] & 0xF0 | UInt8(STT_OBJECT)
        }
        let error = try refusal(of: folder.write(bytes, as: "libNoEntry.so"))
        #expect(error?.code == .pluginNoEntry)
        #expect(error?.message.contains("backplane_plugin_entry_v1") == true)
    }

    @Test(arguments: [
        (
            "_NoPlugin",
            "none; declare one as `public struct HelloPlugin: Plugin`, since a release build drops internal ones"
        ),
        ("_TwoPlugins", "`BusyLoop.BusyLoopPlugin`, `Challenge.ChallengePlugin`; build each as a library of its own"),
        ("_GenericPlugin", "the generic `GenericPlugin`; remove its parameters"),
    ])
    func `a library without exactly one plugin is refused with those that it has`(library: String, found: String) throws
    {
        let file = try LibraryFile.prepare("\(BuiltProducts.folder)/lib\(library).so", in: loads)
        let error = #expect(throws: BackplaneError.self) { try file.describe() }
        #expect(error?.code == .pluginInvalidAnswer && error?.location == file.path)
        #expect(error?.message == "expected one type in the library that conforms to `Plugin`, found \(found)")
    }

    @Test func `a library without an identity is refused with advice`() throws {
        let error = try refusal(of: folder.write(LoadingFixture.anonymousLibrary(), as: "libAnonymous.so"))
        #expect(error?.code == .pluginNoIdentity)
        #expect(error?.message.contains("BP_IDENTITY") == true)
    }

    @Test func `a section that is no identity is refused with advice`() throws {
        var bytes = try LoadingFixture.library()
        let section = try #require(ELFImage(bytes).range(ofSection: LibraryIdentity.section))
        bytes.replaceSubrange(section, with: section.map { _ in 0 })
        let error = try refusal(of: folder.write(bytes, as: "libAnonymous.so"))
        #expect(error?.code == .pluginNoIdentity)
        #expect(error?.message.contains("BACKPLNE") == true)
    }

    @Test func `an ABI the host does not speak is refused, naming both ranges`() throws {
        let error = try refusal(
            of: folder.write(LoadingFixture.library(abi: 700...701), as: "libFuture.so"))
        #expect(error?.code == .pluginABIMismatch)
        #expect(error?.message.contains("700 to 701") == true)
        #expect(error?.message.contains("rebuild the host") == true)
    }

    // MARK: Loading

    @Test func `an undefined symbol fails the load, with the loader's message, at the original`() throws {
        var bytes = try LoadingFixture.library()
        bytes[try LoadingFixture.symbol("fopen", of: bytes).name] = UInt8(ascii: "x")
        let path = try folder.write(bytes, as: "libNeedy.so")
        let file = try LibraryFile.prepare(path, in: loads)

        let error = #expect(throws: BackplaneError.self) { try file.load() }

        #expect(error?.code == .pluginLoadFailed)
        #expect(error?.message.contains("xopen") == true)
        #expect(error?.location == path)
    }
}

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
        func isSame(_ path: String) -> Bool { FileTree.isSameFile(path, as: file.copy, unless: file.unmapped) }

        #expect(isSame(path) && !isSame(rebuilt) && !isSame(resymboled))
        LoadFolder.giveRoomBack(file.unmapped, of: file.copy)
        #expect(isSame(path) && !isSame(rebuilt))
    }
}

/// What the loading tests work on: real folders, real files, real libraries.
enum LoadingFixture {
    /// The bytes of a small plugin. When code of it runs it leaves a file beside itself, called like it with `.ran` at
    /// the end.
    static func library(abi: ClosedRange<UInt32>? = nil) throws -> [UInt8] {
        try FixtureLibrary.bytes(id: "org.example.test", version: "1.2.3", abi: abi, settings: ["marks": "1"])
    }

    /// The same without an identity.
    static func anonymousLibrary() throws -> [UInt8] {
        var bytes = try library()
        bytes[try section("backplane", of: bytes).name] = UInt8(ascii: "x")
        return bytes
    }

    /// Returns where a library has the header of a section, and its name.
    static func section(_ name: String, of bytes: [UInt8]) throws -> (header: Int, name: Int) {
        let first = number(at: 40, as: UInt64.self, of: bytes), count = number(at: 60, as: UInt16.self, of: bytes)
        return try place(of: name, in: ".shstrtab", (0..<count).map { first + $0 * 64 }, of: bytes)
    }

    /// Returns where a library has a symbol, exported or needed, and its name.
    static func symbol(_ name: String, of bytes: [UInt8]) throws -> (record: Int, name: Int) {
        let symbols = try #require(ELFImage(bytes).range(ofSection: ".dynsym"))
        return try place(
            of: name, in: ".dynstr", Array(stride(from: symbols.lowerBound, to: symbols.upperBound, by: 24)), of: bytes)
    }

    /// Looks through records, each of which begins with the place of its name.
    private static func place(of name: String, in names: String, _ records: [Int], of bytes: [UInt8]) throws -> (
        Int, Int
    ) {
        let names = try #require(ELFImage(bytes).range(ofSection: names)).lowerBound, name = Array(name.utf8) + [0]
        let places = records.map { ($0, names + number(at: $0, as: UInt32.self, of: bytes)) }
        return try #require(places.first { bytes[$0.1...].starts(with: name) })
    }

    private static func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type, of bytes: [UInt8])
        -> Int
    {
        bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }
}

extension ELFImage {
    /// Creates an image from the bytes of a file.
    init(_ bytes: [UInt8]) throws(Defect) {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor(
                opening: "/dev/shm", O_RDWR | O_DIRECTORY | 0o20000000 /* O_TMPFILE */, mode: 0o600)
            try file.write(bytes[...])
        } catch {
            preconditionFailure("\(error)")
        }
        try self.init(of: file, size: bytes.count)
    }
}

/// Loading all that a manifest names.
@Suite(.timeLimit(.minutes(5)))
struct PluginLoaderTests {
    @Test func `what cannot be loaded is reported in the order of the manifest, whichever step it fails in`()
        async throws
    {
        let host = try TestHost(
            #"""
            {"manifestVersion": 1, "managers": {"Clock": {"className": "ClockManager"}}, "plugins": [
                {"library": "NotHere"}, {"library": "Clock", "version": "[9.0,10.0)"}, {"library": "Clock"}, "Clock", "Neither"
            ]}
            """#)
        let errors = await host.host.check().map(\.error)
        #expect(errors.map(\.location) == ["/0/library", "/1/library", "/3", "/4"].map { "/plugins\($0)" })
        #expect(errors.map(\.code) == [.pluginNotFound, .versionOutOfRange, .pluginDuplicate, .pluginNotFound])
        let time = try await host.call("Clock", "now")
        #expect(time.isEmpty == false, "those that failed keep no other out")
        await host.host.stop()
    }

    @Test func `two libraries with one id are both named, before what follows from it`() async throws {
        let files = try TestFolder()
        let library = BuiltProducts.folder + "/libClock.so", copy = files.path + "/libOther.so"
        try FileManager.default.copyItem(atPath: library, toPath: copy)
        let host = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "Clock"}, {"library": "\#(copy)"}],
             "managers": {"Other": {"className": "OtherManager"}}}
            """#)
        let problems = await host.host.check()
        #expect(problems.map(\.error.code) == [.pluginDuplicate, .unknownClass])
        #expect(problems.map(\.isConsequence) == [false, true])
        let words = "the library `\(copy)` is not loaded: it is `org.backplane.clock` 1.0.0, already loaded from "
        let message = problems[0].error.message
        #expect(
            message.hasPrefix(words) && message.hasSuffix("libClock.so; give one of them another id"),
            "\(message)")
        let refusal = await error { try await host.call("Other", "now") }
        #expect(refusal?.message.hasPrefix(message) == true, "\(String(describing: refusal))")
        await host.host.stop()
    }

    @Test func `a library that takes long to load keeps the host from nothing else, and is known once it is overdue`()
        async throws
    {
        let files = try TestFolder(), gate = files.path + "/gate", begun = files.path + "/begun"
        let slow = try FixtureLibrary.bytes(
            "Hostile", id: "org.example.slow",
            settings: ["entered": #"create_file("begun"); wait_for_file("gate")"#, "begun": begun, "gate": gate])
        try files.write(slow, as: "libSlow.so")
        let host = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(files.path)/libSlow.so"}], "managers": {}}"#)
        let check = Task { await host.host.check() }
        await eventually { FileManager.default.fileExists(atPath: begun) }
        #expect(await host.host.wires.isEmpty, "it answers")
        host.clock.advance(by: .seconds(60))
        let errors = await check.value.map(\.error)
        #expect(errors.first?.causes.first?.code == .callDeadline, "\(errors)")
        let overdue = try await host.host.generations()
        #expect(overdue.map(\.plugin) == ["org.example.slow"] && overdue.map(\.state) == [.failed])
        try files.write([], as: "gate")
        await host.host.stop()
    }
}
