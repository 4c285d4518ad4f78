import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// What the kernel refuses to watch.
@Suite(.timeLimit(.minutes(2)))
struct InotifyTests {
    private let files: TestFolder
    private var folder: String { files.path }

    init() throws { files = try TestFolder() }

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
