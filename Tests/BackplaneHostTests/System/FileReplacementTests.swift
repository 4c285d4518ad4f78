import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost

struct FileReplacementTests {
    @Test(
        arguments: [
            (0o600, 0o600), (0o640, 0o600), (0o644, 0o644), (0o664, 0o644), (0o604, 0o600), (0o777, 0o777),
            (0o4755, 0o755), (0o2751, 0o711),
        ] as [(UInt32, UInt32)])
    func `without its group a file gives neither that of this process nor everybody what they did not have`(
        mode: UInt32, without: UInt32
    ) {
        #expect(FileReplacement.withoutGroup(mode) == without)
    }

    @Test(arguments: [0o600, 0o640, 0o666, 0o755] as [UInt32])
    func `what takes a file's place has its permissions`(mode: UInt32) throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file")
        try #require(chmod(path, mode) == 0)
        try FileReplacement.replace(path, FileStatus(at: path), with: Array("new".utf8))
        let status = try FileStatus(at: path)
        #expect(status.mode == mode && status.size == 3)
        #expect(try FileTree.names(in: folder.path) == ["file"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `and its owner and its group`() throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file")
        try #require(chown(path, 4_711, 4_712) == 0 && chmod(path, 0o640) == 0)
        try FileReplacement.replace(path, FileStatus(at: path), with: Array("new".utf8))
        let status = try FileStatus(at: path)
        #expect(status.owner == 4_711 && status.group == 4_712 && status.mode == 0o640)
    }

    @Test func `what is made takes nothing's place`() throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file"),
            before = try FileStatus(at: path)
        #expect(throws: SystemError(EEXIST)) { try FileReplacement.create(path, with: Array("new".utf8), mode: 0o666) }
        #expect(try FileStatus(at: path) == before)
        #expect(try FileTree.names(in: folder.path) == ["file"])
    }
}
