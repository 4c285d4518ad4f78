import Foundation
import Glibc
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

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
