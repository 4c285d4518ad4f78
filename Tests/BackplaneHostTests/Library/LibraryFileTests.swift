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

    @Test func `a file that is not there is reported as such`() throws {
        let error = try refusal(of: folder.path + "/libNone.so")
        #expect(error?.code == .pluginNotFound)
    }

    @Test func `a link is refused, also to a sound library`() throws {
        let target = try folder.write(LoadingFixture.library(), as: "libTarget.so")
        let error = try refusal(of: folder.link("libLink.so", to: target))
        #expect(error?.code == .pluginUntrusted)
        #expect(error?.message.contains("symbolic link") == true)
    }

    @Test func `a folder is refused`() throws {
        let error = try refusal(of: folder.makeFolder("libFolder.so"))
        #expect(error?.code == .pluginUntrusted)
        #expect(error?.message.contains("a folder") == true)
    }

    @Test func `a pipe is refused and not waited for`() throws {
        let path = folder.path + "/libPipe.so"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try refusal(of: path)?.code == .pluginUntrusted)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `a file of another user is refused`() throws {
        let path = try folder.write(LoadingFixture.library(), as: "libForeign.so")
        try #require(chown(path, 12345, 12345) == 0)
        let error = try refusal(of: path)
        #expect(error?.code == .pluginUntrusted)
        #expect(error?.message.contains("12345") == true)
    }

    @Test(arguments: [0o777, 0o646, 0o602, 0o1777] as [UInt32])
    func `a file that everybody may write to is refused`(mode: UInt32) throws {
        let error = try refusal(of: folder.write(LoadingFixture.library(), as: "libOpen.so", mode: mode))
        #expect(error?.code == .pluginUntrusted)
        #expect(error?.message.contains(String(mode, radix: 8)) == true)
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

    @Test func `a file that is not ELF is refused`() throws {
        let error = try refusal(of: folder.write(Array("GROUP ( libm.so.6 )\n".utf8), as: "libScript.so"))
        #expect(error?.code == .pluginDamaged)
        #expect(error?.message.contains("not ELF") == true)
    }

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
