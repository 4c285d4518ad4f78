import Backplane
import Foundation
import Glibc
import Testing

@testable import BackplaneDev
@testable import BackplaneHost

/// Which folders are watched, and for what.
@Suite(.timeLimit(.minutes(2)))
struct WatchedPlacesTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    /// What the kernel is asked for of the folder.
    private func kinds(_ name: String, in places: WatchedPlaces) -> Inotify.Kinds? {
        let path = RawPath(observed.path(name))
        return places.places.values.first { $0.path == path }?.watch.flatMap { places.users[$0]?.kinds }
    }

    @Test func `a folder on the way is asked only whether it moves, unless the way may change there`() throws {
        try observed.makeFolder("a/b")
        var places = WatchedPlaces(try Inotify())
        try places.replace([.recursive(observed.path("a/b/c"))])
        #expect(kinds("a", in: places) == .itself)
        #expect(kinds("a/b", in: places) == [.itself, .naming], "it waits there")
        try observed.makeFolder("a/b/c/d")
        places.look()
        #expect(kinds("a/b", in: places) == [.itself, .naming] && kinds("a/b/c", in: places) == .everything)
        #expect(places.takeNews() == WatchedChanges(paths: [observed.path("a/b/c")]))
    }

    @Test func `of a folder that was waited in less is asked when the wait is over`() throws {
        var places = WatchedPlaces(try Inotify())
        try places.replace([.recursive(observed.path("a/b/c"))])
        #expect(kinds("", in: places) == [.itself, .naming])
        try observed.makeFolder("a/b/c")
        places.look()
        #expect(kinds("", in: places) == .itself)
    }

    @Test func `nothing is watched any more for trees that are not wanted`() throws {
        try observed.makeFolder("a/b")
        try observed.makeLink("link", to: "a")
        var places = WatchedPlaces(try Inotify())
        let trees: [WatchedTree] = [.recursive(observed.path("link")), .flat(observed.path("a")), .file(observed.path("none/file")), .file(observed.path("link/b/m"))]
        try places.replace(trees)
        #expect(places.trees.count == 4 && places.users.values.allSatisfy { !$0.places.isEmpty })
        try places.replace([])
        #expect(places.trees.isEmpty && places.places.isEmpty && places.users.isEmpty)
    }

    @Test func `a file that was open when it got its name, and has no other any more, is looked at until it is closed`() throws {
        for name in ["elsewhere", "watched"] { try observed.makeFolder(name) }
        var places = WatchedPlaces(try Inotify())
        try places.replace([.recursive(observed.path("watched"))])
        let file = try FileDescriptor(opening: observed.path("elsewhere/origin"), O_WRONLY | O_CREAT, mode: 0o644)
        try #require(link(observed.path("elsewhere/origin"), observed.path("watched/a")) == 0)
        try observed.remove("elsewhere/origin")
        places.look()
        places.lookAtUnfinishedFiles(at: try #require(places.unfinished.due))
        #expect(places.news.isEmpty)
        close(file)
        places.look()
        #expect(places.news.isEmpty, "of its closing nothing is told")
        places.lookAtUnfinishedFiles(at: try #require(places.unfinished.due))
        #expect(places.news.paths == [observed.path("watched/a")] && places.unfinished.due == nil)
    }

    private func close(_ file: consuming FileDescriptor) {}

    @Test(.enabled(if: geteuid() != 0, "the administrator may read every folder"))
    func `a folder that cannot be read is passed over, and told as a problem`() throws {
        for name in ["closed", "open"] { try observed.makeFolder(name) }
        try #require(chmod(observed.path("closed"), 0) == 0)
        defer { chmod(observed.path("closed"), 0o700) }
        var places = WatchedPlaces(try Inotify())
        try places.replace([.recursive(observed.folder)])
        #expect(places.news.problems.map(\.code) == [.watchUnreadable] && places.news.problems.first?.location == observed.path("closed"))
        try observed.write("", to: "open/a")
        places.look()
        #expect(places.news.paths == [observed.path("open/a")])
    }
}
