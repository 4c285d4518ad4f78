import Backplane
import Dispatch
import Foundation
import Glibc
import Testing

@testable import BackplaneDev
@testable import BackplaneHost

/// Trees that are not where they were: away, moved, or behind links that change.
@Suite(.timeLimit(.minutes(5)))
struct FileWatchRootTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `a tree that is not there yet is waited for, however far away it is`() throws {
        let watch = try observed.watch(WatchedTree(observed.path("a/b/c"), .recursive))
        defer { watch.close() }
        for _ in 0..<20 {
            try observed.makeFolder("a/b/c/d")
            try observed.write("", to: "a/b/c/d/e")
            try observed.told(until: "a/b/c/d/e")
            try observed.write("", to: "a/b/c/f")
            try observed.told(until: "a/b/c/f")
            try observed.remove("a")
            try observed.told(until: "a/b/c/d/e", "a/b/c/f")
        }
    }

    @Test func `a tree whose folder comes with files in it tells of them`() throws {
        try observed.makeFolder("other/deep")
        for name in ["a", "deep/b"] { try observed.write("", to: "other/" + name) }
        let watch = try observed.watch(WatchedTree(observed.path("root"), .recursive))
        defer { watch.close() }
        try observed.move("other", to: "root")
        #expect(try observed.told(until: "root/a", "root/deep/b").paths.count == 2)
    }

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

    @Test func `a link that leads nowhere, or round in a circle, is waited for`() throws {
        try observed.makeLink("dangling", to: "later/on")
        try observed.makeLink("round", to: "about")
        try observed.makeLink("about", to: "round")
        let watch = try observed.watch(
            WatchedTree(observed.path("dangling"), .recursive), WatchedTree(observed.path("round"), .recursive))
        defer { watch.close() }
        try observed.makeFolder("later/on")
        try observed.write("", to: "later/on/a")
        try observed.told(until: "dangling/a")
        try observed.remove("about")
        try observed.makeFolder("about")
        try observed.write("", to: "about/b")
        try observed.told(until: "round/b")
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

    @Test func `a single file that is a link is reported when its target is written, and when the link changes`() throws
    {
        for name in ["real", "stage"] { try observed.makeFolder(name) }
        for name in ["real/m.json", "stage/m.json"] { try observed.write("{}", to: name) }
        try observed.makeLink("manifest.json", to: "real/m.json")
        let watch = try observed.watch(WatchedTree(observed.path("manifest.json"), .file))
        defer { watch.close() }
        try observed.write("{ }", to: "real/m.json")
        try observed.told(until: "manifest.json")
        try observed.makeLink("new", to: "stage/m.json")
        try observed.move("new", to: "manifest.json")
        try observed.told(until: "manifest.json")
        try observed.write("{  }", to: "stage/m.json")
        try observed.told(until: "manifest.json")
    }

    @Test func `one folder may be watched for several trees, and for some of them no more`() throws {
        try observed.makeFolder("root/deep")
        try observed.makeLink("alias", to: "root")
        let deep = WatchedTree(observed.path("root/deep/a"), .file)
        let watch = try observed.watch(
            WatchedTree(observed.path("root"), .recursive), WatchedTree(observed.path("alias"), .recursive), deep)
        defer { watch.close() }
        try observed.write("one", to: "root/deep/a")
        try observed.told(until: "root/deep/a", "alias/deep/a")
        watch.watch([deep])
        for name in ["root/deep/b", "root/deep/a"] { try observed.write("two", to: name) }
        #expect(try observed.told(until: "root/deep/a").paths == [observed.path("root/deep/a")])
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

    @Test(.enabled(if: geteuid() != 0, "the administrator may read every folder"))
    func `a folder that may not be read is said once, and all others are watched`() throws {
        try observed.makeFolder("root/sealed")
        try #require(chmod(observed.path("root/sealed"), 0) == 0)
        defer { chmod(observed.path("root/sealed"), 0o700) }
        let watch = try observed.watch(WatchedTree(observed.path("root"), .recursive))
        defer { watch.close() }
        for name in ["root/a", "root/b"] {
            try observed.write("", to: name)
            let problems = try observed.told(until: name).problems
            #expect(problems.map(\.code) == (name == "root/a" ? [.watchUnreadable] : []))
        }
    }

    /// How many events the kernel keeps.
    private static let queue =
        (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
        .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? .max

    @Test(.enabled(if: queue <= 100_000, "the system keeps more events than a test can make"))
    func `more events than the kernel queues are reported all the same`() throws {
        for name in ["old", "gone", "here"] { try observed.makeFolder(name) }
        for name in ["a", "gone/a"] { try observed.write("", to: name) }
        let isReporting = DispatchSemaphore(value: 0), mayGoOn = DispatchSemaphore(value: 0), report = observed.report
        let watch = try FileWatch(quiet: .milliseconds(1), comparing: 1 << 20) { changes in
            report(changes)
            if changes.paths.contains(where: { $0.hasSuffix("/first") }) {
                isReporting.signal()
                mayGoOn.wait()
            }
        }
        defer { watch.close() }
        watch.watch([WatchedTree(observed.folder, .recursive)])
        try observed.write("", to: "first")
        isReporting.wait()
        // Two events each.
        for turn in 0...(Self.queue / 2) {
            try observed.move(turn.isMultiple(of: 2) ? "a" : "b", to: turn.isMultiple(of: 2) ? "b" : "a")
        }
        try observed.remove("gone")
        try observed.makeFolder("new/deep")
        try observed.write("", to: "new/deep/d")
        try observed.move("here", to: "old/there")
        mayGoOn.signal()
        #expect(try observed.told(until: "gone/a", "new/deep/d").problems == [])
        for name in ["new/deep/c", "old/there/d", "e"] {
            try observed.write("", to: name)
            try observed.told(until: name)
        }
    }
}
