import Backplane
import Foundation
import Glibc
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

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
