import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// What the files of watched trees held when they were last looked at.
struct WatchedFiles {
    private struct Seen {
        var status: FileStatus
        var fingerprint: FileFingerprint
        /// Long before it was looked at: its status tells when it is written again.
        var wasWrittenBefore: Bool
    }
    private let inotify: Inotify
    private let limit: Int
    private var trees: Set<WatchedTree> = []
    private var folders: [Int32: Set<RawPath>?] = [:]
    private var files: [String: Seen] = [:]
    private var problems: [BackplaneError] = []

    /// - Parameter limit: the most bytes of a file that are compared; a larger one has changed when it was written.
    init(_ inotify: Inotify, comparing limit: Int) { (self.inotify, self.limit) = (inotify, limit) }

    /// Whether something may have changed.
    func concerns(_ event: Inotify.Event) -> Bool {
        if event.kinds.contains(.overflow) { return true }
        guard let names = folders[event.watch] else { return false }
        guard let names, let name = event.name else { return true }
        return names.contains(name)
    }

    /// Watches these trees and no others; files of those that are new are taken as they are.
    mutating func replace(_ wanted: Set<WatchedTree>) -> WatchedChanges {
        let new = wanted.subtracting(trees)
        trees = wanted
        return look(takingAsIs: new)
    }

    /// Looks at all files, and reads those whose status tells nothing.
    mutating func look(takingAsIs new: Set<WatchedTree> = []) -> WatchedChanges {
        var paths: Set<String> = [], problems: [BackplaneError] = [], folders: [Int32: Set<RawPath>?] = [:], seen: [String: Seen] = [:]
        for tree in trees {
            let walk = TreeWalk(through: tree, inotify)
            folders.merge(walk.folders) { names, others in names.flatMap { names in others.map(names.union) } }
            for path in walk.files {
                seen[path] = look(at: path)
                if seen[path]?.fingerprint != files[path]?.fingerprint, files[path] != nil || !new.contains(tree) { paths.insert(path) }
            }
            problems += walk.problems.filter { !problems.contains($0) }
        }
        paths.formUnion(files.keys.filter { path in seen[path] == nil && trees.contains { path.hasPrefix($0.path + "/") } })
        for number in self.folders.keys where folders[number] == nil { inotify.remove(number) }
        defer { (self.folders, self.files, self.problems) = (folders, seen, problems) }
        return WatchedChanges(paths: paths, problems: problems.filter { !self.problems.contains($0) })
    }

    /// What a file holds; `nil`: there is none. One that is being written is as it was: whoever closes it is told of.
    private func look(at path: String) -> Seen? {
        guard let status = try? FileStatus(at: path) else { return nil }
        let before = files[path]
        if let before, before.wasWrittenBefore, before.status == status { return before }
        if status.kind == .file, (try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))?.isOpenForWriting == true { return before }
        let age = Date().timeIntervalSince1970 - Double(status.modified.seconds)
        return Seen(status: status, fingerprint: FileFingerprint(of: path, limit: limit), wasWrittenBefore: status.kind == .file && age > 2)
    }
}
