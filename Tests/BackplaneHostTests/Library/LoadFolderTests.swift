import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(10)))
struct LoadFolderTests {
    private let folder: TestFolder
    private var parent: String { folder.path + "/loads" }

    init() throws {
        folder = try TestFolder()
    }

    private func hosts() throws -> [String] {
        try FileTree.names(in: parent).filter { $0.hasPrefix("host-") }
    }

    private func refusal(in parent: String) -> BackplaneError? {
        let error = #expect(throws: BackplaneError.self) { try LoadFolder(in: parent) }
        #expect(error?.code == .loadFolderUnusable)
        #expect(error?.message.contains("`HostOptions.loadFolder`") == true)
        return error
    }

    // MARK: Making

    @Test func `the folder and its parent are the user's alone`() throws {
        let loads = try LoadFolder(in: parent + "/deep")
        for path in [parent, parent + "/deep", loads.path] {
            let status = try FileStatus(at: path)
            #expect(status.kind == .folder && status.mode == 0o700 && status.owner == geteuid(), "\(path)")
        }
        #expect(FilePath.name(of: loads.path).hasPrefix("host-\(getpid())-"))
    }

    @Test func `a copy's name says plugin and generation, in letters that a line of text can bear`() throws {
        func name(_ library: String, _ plugin: String?, _ generation: Int) throws -> String {
            let loads = try LoadFolder(in: parent)
            return FilePath.name(
                of: LoadFolder.path(of: loads.newCopyPath(for: library), plugin: plugin, generation: generation))
        }
        #expect(try name("libBooks.so", "org.example.books", 3) == "1-org.example.books-generation-3-libBooks.so")
        #expect(try name("libBooks.so", nil, 1) == "1-generation-1-libBooks.so")
        #expect(try name("libBo\noks-é.so", "org/ä", 1) == "1-org___-generation-1-libBo_oks-__.so")
        #expect(
            try name(String(repeating: "x", count: 250) + ".so", String(repeating: "y", count: 500), .max).utf8.count
                <= 255)
    }

    @Test func `removing takes everything in it, and links only themselves`() throws {
        let kept = try folder.write([1], as: "kept")
        let loads = try LoadFolder(in: parent)
        try #require(mkdir(loads.path + "/resources", 0o700) == 0)
        try folder.write([1], as: "loads/\(FilePath.name(of: loads.path))/resources/a")
        _ = try folder.link("loads/\(FilePath.name(of: loads.path))/link", to: folder.path)

        loads.remove()

        #expect(try hosts() == [])
        #expect(FileContents.exists(kept))
    }

    @Test func `a folder that is a link is refused`() throws {
        _ = try folder.makeFolder("elsewhere")
        #expect(try refusal(in: folder.link("loads", to: "elsewhere"))?.message.contains("a symbolic link") == true)
        #expect(
            refusal(in: parent + "/")?.message.contains("a symbolic link") == true, "a slash at the end changes nothing"
        )
        #expect(try FileTree.names(in: folder.path + "/elsewhere") == [])
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [UInt32])
    func `a folder that others may write to is refused`(mode: UInt32) throws {
        #expect(
            try refusal(in: folder.makeFolder("loads", mode: mode))?.message.contains(String(mode, radix: 8)) == true)
    }

    @Test func `a folder from which nothing may be executed is refused`() throws {
        let path = try folder.makeFolder("loads")
        guard mount("tmpfs", path, "tmpfs", UInt(MS_NOEXEC), nil) == 0 else {
            try Test.cancel("this user may not mount a file system to try it on")
        }
        defer { umount2(path, Int32(MNT_DETACH)) }
        try #require(chmod(path, 0o700) == 0)
        #expect(refusal(in: path)?.message.contains("noexec") == true)
    }

    // MARK: Sweeping

    @Test func `what a killed host left is removed, and a living host's folder is not`() throws {
        let (living, killed) = try (
            OtherHost(in: folder, "0000000000000001"), OtherHost(in: folder, "0000000000000002")
        )
        let own = try LoadFolder(in: parent)
        #expect(FileContents.exists(living.path) && FileContents.exists(killed.path), "both live")

        killed.kill()
        let next = try LoadFolder(in: parent)

        #expect(!FileContents.exists(killed.path))
        #expect(FileContents.exists(living.path + "/lock"))
        #expect(FileContents.exists(own.path + "/lock") && FileContents.exists(next.path + "/lock"))
    }

    @Test func `what is not certainly a host's folder is left alone`() throws {
        _ = try folder.makeFolder("loads")
        let names = [
            "host", "host-1", "host-1-2", "host-x-0123456789abcdef", "host-1-0123456789abcdeg",
            "host-1-0123456789abcdef-2", "other",
        ]
        for name in names { _ = try folder.makeFolder("loads/" + name) }
        try folder.write(as: "loads/host-2-0123456789abcdef")
        _ = try folder.link("loads/host-3-0123456789abcdef", to: folder.path)

        _ = try LoadFolder(in: parent)

        for name in names + ["host-2-0123456789abcdef", "host-3-0123456789abcdef"] {
            #expect(FileContents.exists(FilePath.join(parent, name)), "\(name)")
        }
    }

    @Test func `hosts that start at once do not remove each other`() async throws {
        let parent = parent
        // A race that is open shows itself in some rounds, not in each.
        for _ in 0..<20 {
            let folders = try await withThrowingTaskGroup(of: LoadFolder.self) { group in
                for _ in 0..<30 { group.addTask { @concurrent in try LoadFolder(in: parent) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(folders.map(\.path)).count == 30)
            #expect(folders.allSatisfy { FileContents.exists($0.path + "/lock") })
            for folder in folders { folder.remove() }
        }
    }
}

/// A process that holds its folder as a host does, and only that.
private final class OtherHost {
    let path: String
    private let process = Process()
    /// The process ends by itself when this end is closed.
    private let input = Pipe()

    init(in folder: TestFolder, _ random: String) throws {
        if !FileContents.exists(folder.path + "/loads") { _ = try folder.makeFolder("loads") }
        path = try folder.makeFolder("loads/host-1-" + random)
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "umask 077; exec 9>\"$0\"; flock 9 && printf r && exec cat", path + "/lock"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard try output.fileHandleForReading.read(upToCount: 1) == Data("r".utf8) else { throw SystemError(EPIPE) }
    }

    deinit {
        kill()
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
