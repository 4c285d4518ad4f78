import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// What the kernel tells of a folder, and waiting for it.
@Suite(.timeLimit(.minutes(2)))
struct InotifyTests {
    private let files: TestFolder
    private var folder: String { files.path }
    private var path: RawPath { RawPath(folder) }

    init() throws { files = try TestFolder() }

    @Test func `events come in their order, each with its folder and its name`() throws {
        let inotify = try Inotify(),
            watch = try inotify.add(path, [.created, .written, .movedAway, .movedHere, .deleted, .selfDeleted])
        #expect(try inotify.events() == [])
        _ = try FileDescriptor(opening: folder + "/a name", O_WRONLY | O_CREAT, mode: 0o600)
        try #require(rename(folder + "/a name", folder + "/b") == 0 && unlink(folder + "/b") == 0 && rmdir(folder) == 0)
        inotify.wait(until: nil)
        let a = RawPath("a name"), b = RawPath("b")
        let expected: [(Inotify.Kinds, RawPath?)] = [
            (.created, a), (.written, a), (.movedAway, a), (.movedHere, b), (.deleted, b), (.selfDeleted, nil),
            (.ignored, nil),
        ]
        #expect(try inotify.events() == expected.map { Inotify.Event(watch: watch, kinds: $0.0, name: $0.1) })
    }

    @Test func `one folder has one number, whatever its path, and tells nothing more once it is not asked`() throws {
        let inotify = try Inotify(), watch = try inotify.add(path, .created)
        try #require(symlink(folder, folder + "/link") == 0)
        #expect(try inotify.add(path.appending(RawPath("link")), .deleted) == watch)
        inotify.remove(watch)
        try #require(unlink(folder + "/link") == 0)
        #expect(try inotify.events().map(\.kinds) == [.created, .ignored])
    }

    @Test func `a wait ends when somebody wakes it, and when its time has come`() throws {
        let inotify = try Inotify()
        inotify.wake()
        inotify.wake()
        inotify.wait(until: nil)
        let deadline = Deadline.now + .milliseconds(2)
        inotify.wait(until: deadline)
        #expect(Deadline.now >= deadline, "both were for the wait before")
        let hasEnded = DispatchSemaphore(value: 0)
        _ = HostThread.tryStart("test") {
            inotify.wait(until: nil)
            hasEnded.signal()
        }
        inotify.wake()
        #expect(hasEnded.wait(timeout: .now() + 60) == .success)
    }

    @Test func `what is no folder is an error, and what to do against a limit is said`() throws {
        try Data().write(to: URL(filePath: folder + "/file"))
        for (name, number) in [("missing", ENOENT), ("file", ENOTDIR), ("a\0b", EINVAL)] {
            #expect(throws: SystemError(number)) { try Inotify().add(RawPath(folder + "/" + name), .created) }
        }
        let limit = Inotify.problem(SystemError(ENOSPC), watching: "/a")
        #expect(
            limit.code == .watchLimit && limit.location == "/a" && limit.message.contains("fs.inotify.max_user_watches")
        )
        #expect(Inotify.problem(SystemError(EACCES), watching: "/a").code == .watchUnreadable)
    }
}
