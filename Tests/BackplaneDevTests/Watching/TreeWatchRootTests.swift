import Backplane
import Foundation
import Glibc
import Testing

@testable import BackplaneDev
@testable import BackplaneHost

/// Trees that are not where they were: away, moved, or behind links that change.
@Suite(.timeLimit(.minutes(5)))
struct TreeWatchRootTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `a tree that is not there yet is waited for, however far away it is`() throws {
        let watch = try observed.watch(.recursive(observed.path("a/b/c")))
        defer { watch.close() }
        for _ in 0..<20 {
            try observed.makeFolder("a/b/c/d")
            try observed.write("", to: "a/b/c/d/e")
            try observed.told(until: "a/b/c/d/e")
            try observed.write("", to: "a/b/c/f")
            try observed.told(until: "a/b/c/f")
            try observed.remove("a")
            try observed.told(until: "a/b/c")
        }
    }

    @Test func `a tree whose folder comes with files in it tells of itself and of them`() throws {
        try observed.makeFolder("other/deep")
        for name in ["a", "deep/b"] { try observed.write("", to: "other/" + name) }
        let watch = try observed.watch(.recursive(observed.path("root")))
        defer { watch.close() }
        try observed.move("other", to: "root")
        let changes = try observed.told(until: "root", "root/a", "root/deep/b")
        #expect(changes.isComplete && changes.paths.count == 3)
    }

    @Test func `a tree follows its path, not its folder, when a folder on the way moves`() throws {
        try observed.makeFolder("one/two/root")
        let watch = try observed.watch(.recursive(observed.path("one/two/root")))
        defer { watch.close() }
        try observed.move("one", to: "away")
        try observed.told(until: "one/two/root")
        try observed.write("", to: "away/two/root/unseen")
        try observed.makeFolder("one/two/root")
        #expect(try observed.told(until: "one/two/root").paths.count == 1)
        try observed.write("", to: "one/two/root/seen")
        #expect(try observed.told(until: "one/two/root/seen").paths == [observed.path("one/two/root/seen")])
    }

    @Test func `a tree behind a link tells its files below the link, and notices where it leads by now`() throws {
        for name in ["x86/debug", "x86/release"] { try observed.makeFolder(name) }
        try observed.write("", to: "x86/release/libA.so")
        try observed.makeLink("debug", to: "x86/debug")
        let watch = try observed.watch(.flat(observed.path("debug")))
        defer { watch.close() }
        try observed.write("", to: "x86/debug/libB.so")
        #expect(try observed.told(until: "debug/libB.so").paths == [observed.path("debug/libB.so")])
        // As `ln -sfn` does it.
        try observed.makeLink("new", to: "x86/release")
        try observed.move("new", to: "debug")
        let changes = try observed.told(until: "debug", "debug/libA.so")
        #expect(changes.paths.count == 2)
        try observed.write("", to: "x86/debug/libB.so")
        try observed.write("", to: "x86/release/libC.so")
        #expect(try observed.told(until: "debug/libC.so").paths == [observed.path("debug/libC.so")])
    }

    @Test func `a link that leads nowhere, or round in a circle, is waited for`() throws {
        try observed.makeLink("dangling", to: "later/on")
        try observed.makeLink("round", to: "about")
        try observed.makeLink("about", to: "round")
        let watch = try observed.watch(.recursive(observed.path("dangling")), .recursive(observed.path("round")))
        defer { watch.close() }
        try observed.makeFolder("later/on")
        try observed.write("", to: "later/on/a")
        try observed.told(until: "dangling/a")
        try observed.remove("about")
        try observed.makeFolder("about")
        try observed.write("", to: "about/b")
        try observed.told(until: "round/b")
    }

    @Test func `a single file is told of, and nothing beside it`() throws {
        try observed.write("{}", to: "manifest.json")
        let watch = try observed.watch(.file(observed.path("manifest.json")), .file(observed.path("later/lock.json")))
        defer { watch.close() }
        for name in ["other.json", "manifest.json~", "manifest.json"] { try observed.write("{ }", to: name) }
        #expect(try observed.told(until: "manifest.json").paths == [observed.path("manifest.json")])
        try observed.move("other.json", to: "manifest.json")
        try observed.told(until: "manifest.json")
        try observed.remove("manifest.json")
        try observed.told(until: "manifest.json")
        try observed.makeFolder("later")
        try observed.write("{}", to: "later/lock.json")
        #expect(try observed.told(until: "later/lock.json").isComplete)
        try observed.move("later", to: "manifest.json")
        try observed.told(until: "later/lock.json")
    }

    @Test func `a single file that is a link is told of when its file is written, and when the link is another`() throws {
        for name in ["real", "stage"] { try observed.makeFolder(name) }
        for name in ["real/m.json", "stage/m.json"] { try observed.write("{}", to: name) }
        try observed.makeLink("manifest.json", to: "real/m.json")
        let watch = try observed.watch(.file(observed.path("manifest.json")))
        defer { watch.close() }
        try observed.write("{ }", to: "real/m.json")
        try observed.told(until: "manifest.json")
        try observed.makeLink("new", to: "stage/m.json")
        try observed.move("new", to: "manifest.json")
        try observed.told(until: "manifest.json")
        try observed.write("{ }", to: "stage/m.json")
        try observed.told(until: "manifest.json")
    }

    @Test func `one folder may be watched for several trees`() throws {
        try observed.makeFolder("root/deep")
        try observed.makeLink("alias", to: "root")
        let watch = try observed.watch(
            .recursive(observed.path("root")), .recursive(observed.path("alias")), .flat(observed.path("root/deep"), names: ["a"]), .file(observed.path("root/deep/a")))
        try observed.write("", to: "root/deep/a")
        try observed.told(until: "root/deep/a", "alias/deep/a")
        try watch.replace([.file(observed.path("root/deep/a"))])
        for name in ["root/deep/b", "root/deep/a"] { try observed.write("", to: name) }
        #expect(try observed.told(until: "root/deep/a").paths == [observed.path("root/deep/a")])
    }

    @Test func `a path that no file can have is refused`() throws {
        let error = #expect(throws: BackplaneError.self) { try observed.watch(.file(observed.path("a\0b"))) }
        #expect(error?.code == .watchUnreadable)
    }
}
