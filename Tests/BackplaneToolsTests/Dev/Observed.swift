import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// A folder of a test's own, what is done in it, and what a watch tells of that.
final class Observed: Sendable {
    private let files: TestFolder
    var folder: String { files.path }
    private let told = Monitor<[WatchedChanges]>([])

    init() throws { files = try TestFolder() }

    func path(_ name: String) -> String { name.isEmpty ? folder : folder + "/" + name }

    /// The folder itself with everything below it, unless `trees` says otherwise.
    func watch(_ trees: WatchedTree..., quiet: Duration = .milliseconds(5)) throws
        -> FileWatch
    {
        let watch = try FileWatch(quiet: quiet, comparing: 1 << 20, report: report)
        watch.watch(trees.isEmpty ? [WatchedTree(folder, .recursive)] : Set(trees))
        return watch
    }

    var report: @Sendable (WatchedChanges) -> Void {
        { [told] changes in told.withLock { $0.append(changes) } }
    }

    /// What is told until all of `paths` have been, put together; fails where one is not within a minute.
    @discardableResult
    func told(until names: String...) throws -> WatchedChanges { try told(until: names) }

    @discardableResult
    func told(until names: [String]) throws -> WatchedChanges {
        try #require(
            collect { $0.paths.isSuperset(of: names.map(self.path)) }, "not told of, or not all of it: \(names)")
    }

    /// What is told before a file that is written now is.
    func toldSoFar(in place: String = "") throws -> WatchedChanges {
        let name = (place.isEmpty ? "" : place + "/") + "sentinel-\(UUID().uuidString)"
        try write("", to: name)
        var changes = try told(until: name)
        changes.paths.remove(path(name))
        return changes
    }

    private func collect(until isEnough: (WatchedChanges) -> Bool) -> WatchedChanges? {
        let end = Deadline.now + .seconds(60)
        return told.wait { told in
            let all = told.reduce(into: WatchedChanges()) { $0.add($1) }
            if isEnough(all) {
                told = []
                return .done(all)
            }
            return Deadline.now < end ? .until(end) : .done(nil)
        }
    }
}

/// What may be done to files.
extension Observed {
    /// Truncates the file, or makes it, writes and closes it.
    func write(_ text: String, to name: String) throws {
        let file = try FileDescriptor(opening: path(name), O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(ArraySlice(text.utf8))
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    func move(_ name: String, to other: String) throws {
        try #require(rename(path(name), path(other)) == 0)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(name))
    }

    func makeLink(_ name: String, to destination: String) throws {
        try #require(symlink(destination, path(name)) == 0)
    }

    @discardableResult
    func run(_ command: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
