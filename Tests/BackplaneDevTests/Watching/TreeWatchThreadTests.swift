import Backplane
import Foundation
import Glibc
import Testing

@testable import BackplaneDev
@testable import BackplaneHost

/// The thread of a watch, what directs it, and what is too much for it.
@Suite(.timeLimit(.minutes(5)))
struct TreeWatchThreadTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `other trees may be watched without a gap in those that stay`() throws {
        for name in ["stays", "goes", "comes"] { try observed.makeFolder(name) }
        func tree(_ name: String) -> WatchedTree { .recursive(observed.path(name)) }
        let watch = try observed.watch(tree("stays"), tree("goes"))
        defer { watch.close() }
        for turn in 0..<50 {
            let (gone, come) = turn.isMultiple(of: 2) ? ("goes", "comes") : ("comes", "goes"), name = "stays/\(turn)"
            try observed.write("", to: name)
            try watch.replace([tree("stays"), tree(come)])
            try observed.write("", to: "\(gone)/unseen-\(turn)")
            try observed.write("", to: "\(come)/\(turn)")
            let changes = try observed.told(until: name, "\(come)/\(turn)")
            #expect(changes.isComplete && !changes.paths.contains(observed.path("\(gone)/unseen-\(turn)")))
        }
    }

    @Test func `trees that cannot be watched leave those that are, and no others`() throws {
        for name in ["stays", "other"] { try observed.makeFolder(name) }
        let watch = try observed.watch(.recursive(observed.path("stays")))
        defer { watch.close() }
        let error = #expect(throws: BackplaneError.self) {
            try watch.replace([.recursive(observed.path("other")), .file(observed.path("a\0b"))])
        }
        #expect(error?.code == .watchUnreadable)
        for name in ["other/a", "stays/a"] { try observed.write("", to: name) }
        #expect(try observed.told(until: "stays/a").paths == [observed.path("stays/a")])
    }

    @Test func `a watch that is closed while it tells something ends its thread, and tells nothing more`() throws {
        let thread = WatchThread(), watch = try thread.watch(observed.folder)
        try observed.write("", to: "a")
        try #require(thread.waitForReport())
        try observed.write("", to: "b")
        watch.close()
        thread.goOn()
        #expect(thread.waitForEnd() && thread.reports == 1)
        watch.close()
    }

    @Test func `a watch that is closed while nothing happens ends its thread at once`() throws {
        let thread = WatchThread(), watch = try thread.watch(observed.folder)
        watch.close()
        #expect(thread.waitForEnd() && thread.reports == 0)
        #expect(throws: Never.self) { try watch.replace([]) }
    }

    @Test func `a watch that nobody has any more closes itself`() throws {
        let thread = WatchThread()
        _ = try thread.watch(observed.folder)
        #expect(thread.waitForEnd())
    }

    /// How many events the kernel keeps.
    private static let queue = (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
        .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? .max

    @Test(.enabled(if: queue <= 100_000, "the system keeps more events than a test can make"))
    func `more than the kernel keeps is told to be incomplete, and what came meanwhile is watched`() throws {
        for name in ["old", "gone", "here"] { try observed.makeFolder(name) }
        let thread = WatchThread()
        let watch = try thread.watch(observed.folder, then: observed.report)
        defer { watch.close() }
        try observed.write("", to: "first")
        try #require(thread.waitForReport())
        // One after the other: the kernel makes one of several that are alike.
        for turn in 0...Self.queue { try observed.write("", to: turn.isMultiple(of: 2) ? "a" : "b") }
        try observed.remove("gone")
        try observed.makeFolder("new/deep")
        try observed.move("here", to: "old/there")
        thread.goOn()
        #expect(try observed.toldIncomplete().problems == [])
        for name in ["new/deep/c", "old/there/d", "e"] {
            try observed.write("", to: name)
            #expect(try observed.told(until: name).isComplete)
        }
    }

    @Test func `a watch sleeps while nothing happens`() throws {
        // Not directly in the system's folder for temporary files, where others make theirs: that would be looked at for the root's name.
        try observed.makeFolder("root")
        let thread = WatchThread(), watch = try thread.watch(observed.path("root"))
        defer { watch.close() }
        try observed.write("", to: "root/a")
        try #require(thread.waitForReport())
        thread.goOn()
        let other = try Observed(), clock = try other.watch()
        defer { clock.close() }
        // What time is, is told by another watch, which has much to do.
        func afterWhile(_ turns: Int) throws -> Int? {
            for _ in 0..<turns { _ = try other.toldSoFar() }
            return thread.sleeps
        }
        // The thread is on its way to its wait at first.
        var sleeps = try afterWhile(1)
        for _ in 0..<100 {
            let now = try afterWhile(1)
            if now == sleeps { break }
            sleeps = now
        }
        try #require(sleeps != nil)
        #expect(try afterWhile(30) == sleeps)
    }
}
