import Foundation
import Glibc
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
