import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// What a watch tells of single files, however they are written.
@Suite(.timeLimit(.minutes(5)))
struct FileWatchTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `a file that is written is reported once, however often that happens within the quiet time`() throws {
        let watch = try observed.watch(quiet: .milliseconds(500))
        defer { watch.close() }
        for turn in 0..<20 {
            let start = ContinuousClock.now
            for text in ["one", "two", "three"] { try observed.write("\(text) \(turn)", to: "a.swift") }
            let isWithinQuiet = ContinuousClock.now - start < .milliseconds(400)
            let told = try observed.told(until: "a.swift"), rest = try observed.toldSoFar()
            // On a busy machine it may have taken longer, and is reported as often as that asks for.
            guard isWithinQuiet else { continue }
            #expect(told.paths == [observed.path("a.swift")])
            #expect(rest.isEmpty)
            return
        }
        Issue.record("the file was never written three times within the quiet time")
    }

    @Test func `a file that is touched, or written as it was, is not told of`() throws {
        try observed.write("one", to: "a.swift")
        let watch = try observed.watch()
        defer { watch.close() }
        try observed.run(["touch", "a.swift"])
        try observed.write("one", to: "a.swift")
        #expect(try observed.toldSoFar().isEmpty)
        try observed.write("two", to: "a.swift")
        #expect(try observed.toldSoFar().paths == [observed.path("a.swift")], "as long as before")
    }

    @Test func `a file that is truncated and rewritten keeps its inode and is reported`() throws {
        try observed.write("one", to: "a.swift")
        let inode = try FileStatus(at: observed.path("a.swift")).inode
        let watch = try observed.watch()
        defer { watch.close() }
        try observed.write("two", to: "a.swift")
        try observed.told(until: "a.swift")
        #expect(try FileStatus(at: observed.path("a.swift")).inode == inode)
    }

    @Test func `of an editor's temporary file and rename, only the file is reported`() throws {
        try observed.write("one", to: "a.swift")
        let watch = try observed.watch()
        defer { watch.close() }
        for temporary in [".a.swift.swp", "a.swift~", "#a.swift#", "4913"] {
            try observed.write("by way of \(temporary)", to: temporary)
            try observed.move(temporary, to: "a.swift")
            #expect(try observed.told(until: "a.swift").paths == [observed.path("a.swift")])
        }
        #expect(try observed.toldSoFar().isEmpty)
    }

    @Test func `a file that is still being written is not told of before it is closed`() throws {
        let watch = try observed.watch()
        defer { watch.close() }
        let file = try FileDescriptor(opening: observed.path("slow.swift"), O_WRONLY | O_CREAT, mode: 0o644)
        for _ in 0..<3 {
            try file.write(ArraySlice("half ".utf8))
            #expect(try observed.toldSoFar().isEmpty)
        }
        close(file)
        #expect(try observed.told(until: "slow.swift").paths == [observed.path("slow.swift")])
    }

    private func close(_ file: consuming FileDescriptor) {}

    @Test func `of a folder of libraries only those in it are told`() throws {
        try observed.makeFolder("built/deep")
        let watch = try observed.watch(WatchedTree(observed.path("built"), .libraries))
        defer { watch.close() }
        for name in ["libA.so", "libA.so.tmp", "A.so", "deep/libB.so", "libC.a", ".libD.so"] {
            try observed.write("", to: "built/" + name)
        }
        try observed.write("", to: "built/libSentinel.so")
        #expect(try observed.told(until: "built/libA.so", "built/libSentinel.so").paths.count == 2)
    }
}

/// Trees that are not where they were: away, moved, or behind links that change.
@Suite(.timeLimit(.minutes(5)))
struct FileWatchRootTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `a tree follows its path, not its folder, when a folder on the way moves`() throws {
        try observed.makeFolder("one/two/root")
        try observed.write("", to: "one/two/root/a")
        let watch = try observed.watch(WatchedTree(observed.path("one/two/root"), .recursive))
        defer { watch.close() }
        try observed.move("one", to: "away")
        try observed.told(until: "one/two/root/a")
        try observed.write("", to: "away/two/root/unseen")
        try observed.makeFolder("one/two/root")
        try observed.write("", to: "one/two/root/seen")
        #expect(try observed.told(until: "one/two/root/seen").paths == [observed.path("one/two/root/seen")])
    }

    @Test func `a tree behind a link tells its files below the link, and notices where it leads by now`() throws {
        for name in ["x86/debug", "x86/release"] { try observed.makeFolder(name) }
        try observed.write("", to: "x86/release/libA.so")
        try observed.makeLink("debug", to: "x86/debug")
        let watch = try observed.watch(WatchedTree(observed.path("debug"), .libraries))
        defer { watch.close() }
        try observed.write("", to: "x86/debug/libB.so")
        #expect(try observed.told(until: "debug/libB.so").paths == [observed.path("debug/libB.so")])
        // As `ln -sfn` does it.
        try observed.makeLink("new", to: "x86/release")
        try observed.move("new", to: "debug")
        #expect(try observed.told(until: "debug/libA.so", "debug/libB.so").paths.count == 2)
        try observed.write("gone", to: "x86/debug/libB.so")
        try observed.write("", to: "x86/release/libC.so")
        #expect(try observed.told(until: "debug/libC.so").paths == [observed.path("debug/libC.so")])
    }

    @Test func `a single file is reported, and nothing next to it`() throws {
        try observed.write("{}", to: "manifest.json")
        let watch = try observed.watch(
            WatchedTree(observed.path("manifest.json"), .file), WatchedTree(observed.path("later/lock.json"), .file))
        defer { watch.close() }
        for name in ["other.json", "manifest.json~", "manifest.json"] {
            try observed.write("{ \"\(name)\": 1 }", to: name)
        }
        #expect(try observed.told(until: "manifest.json").paths == [observed.path("manifest.json")])
        try observed.move("other.json", to: "manifest.json")
        try observed.told(until: "manifest.json")
        try observed.remove("manifest.json")
        try observed.told(until: "manifest.json")
        try observed.makeFolder("later")
        try observed.write("{}", to: "later/lock.json")
        try observed.told(until: "later/lock.json")
        try observed.move("later", to: "manifest.json")
        try observed.told(until: "later/lock.json")
    }

    @Test func `other trees may be watched without a gap in those that stay`() throws {
        for name in ["stays", "goes", "comes"] { try observed.makeFolder(name) }
        func tree(_ name: String) -> WatchedTree { WatchedTree(observed.path(name), .recursive) }
        let watch = try observed.watch(tree("stays"), tree("goes"))
        defer { watch.close() }
        for turn in 0..<50 {
            let (gone, come) = turn.isMultiple(of: 2) ? ("goes", "comes") : ("comes", "goes"), name = "stays/\(turn)"
            try observed.write("", to: name)
            watch.watch([tree("stays"), tree(come)])
            try observed.write("", to: "\(gone)/unseen-\(turn)")
            try observed.write("", to: "\(come)/\(turn)")
            let changes = try observed.told(until: name, "\(come)/\(turn)")
            #expect(!changes.paths.contains(observed.path("\(gone)/unseen-\(turn)")))
        }
    }
}

/// What a watch tells of folders that come, go and move.
@Suite(.timeLimit(.minutes(5)))
struct FileWatchFolderTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `nothing is missed in nested folders that are made in one go, with files in them at once`() throws {
        let watch = try observed.watch()
        defer { watch.close() }
        for turn in 0..<50 {
            let deep = "\(turn)/a/b/c",
                names = ["\(turn)/1.swift", "\(turn)/a/2.swift", "\(turn)/a/b/3.swift", deep + "/4.swift"]
            try observed.makeFolder(deep)
            for name in names { try observed.write("", to: name) }
            let changes = try observed.told(until: names[0], names[1], names[2], names[3])
            #expect(changes.problems == [])
        }
    }

    @Test func `of a folder that moves away all files are told, and again when it comes back`() throws {
        try observed.makeFolder("root/folder/deep")
        for name in ["a", "deep/b"] { try observed.write("", to: "root/folder/" + name) }
        let watch = try observed.watch(WatchedTree(observed.path("root"), .recursive))
        defer { watch.close() }
        for turn in 0..<3 {
            try observed.move("root/folder", to: "elsewhere")
            #expect(try observed.told(until: "root/folder/a", "root/folder/deep/b").paths.count == 2)
            try observed.write("unseen", to: "elsewhere/deep/b")
            try observed.move("elsewhere", to: "root/folder")
            try observed.told(until: "root/folder/a", "root/folder/deep/b")
            try observed.write("seen \(turn)", to: "root/folder/deep/b")
            try observed.told(until: "root/folder/deep/b")
        }
    }

    @Test func `a folder that is removed and made again is watched again`() throws {
        try observed.makeFolder("folder")
        try observed.write("", to: "folder/a")
        let watch = try observed.watch()
        defer { watch.close() }
        for turn in 0..<20 {
            try observed.remove("folder")
            try observed.makeFolder("folder")
            try observed.write("\(turn)", to: "folder/a")
            try observed.told(until: "folder/a")
            try observed.write("\(turn)", to: "folder/b")
            try observed.told(until: "folder/b")
        }
    }

    @Test func `hidden folders are passed over, and so are links to folders, which may lead back`() throws {
        for name in [".build/debug", ".git", "Sources"] { try observed.makeFolder(name) }
        try observed.makeLink("Sources/loop", to: "..")
        let watch = try observed.watch()
        defer { watch.close() }
        try observed.makeFolder(".later/deep")
        for name in [".build/debug/a", ".git/index", ".later/deep/b", "Sources/seen"] {
            try observed.write("", to: name)
        }
        #expect(try observed.toldSoFar().paths == [observed.path("Sources/seen")])
    }
}

/// What files hold.
@Suite(.timeLimit(.minutes(2)))
struct FileFingerprintTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `the empty file, the missing one, a folder and a pipe are told apart, and none is waited for`() throws {
        try observed.write("", to: "empty")
        try #require(mkfifo(observed.path("pipe"), 0o600) == 0)
        try observed.makeLink("loop", to: "loop")
        let names = ["empty", "missing", "", "pipe", "loop", "empty/below"]
        let found = names.map { FileFingerprint(of: observed.path($0)) }
        #expect(
            found == [
                .contents(size: 0, hash: 0xcbf2_9ce4_8422_2325), .missing, .other, .other,
                .unreadable(SystemError(ELOOP)), .missing,
            ])
    }
}

/// What the kernel refuses to watch.
@Suite(.timeLimit(.minutes(2)))
struct InotifyTests {
    private let files: TestFolder
    private var folder: String { files.path }

    init() throws { files = try TestFolder() }

    @Test func `what is no folder is an error, and what to do against a limit is said`() throws {
        try Data().write(to: URL(filePath: folder + "/file"))
        for (name, number) in [("missing", ENOENT), ("file", ENOTDIR), ("a\0b", EINVAL)] {
            #expect(throws: SystemError(number)) { try Inotify().add(folder + "/" + name, .created) }
        }
        let limit = Inotify.problem(SystemError(ENOSPC), watching: "/a")
        #expect(
            limit.code == .watchLimit && limit.location == "/a" && limit.message.contains("fs.inotify.max_user_watches")
        )
        #expect(Inotify.problem(SystemError(EACCES), watching: "/a").code == .watchUnreadable)
    }
}
