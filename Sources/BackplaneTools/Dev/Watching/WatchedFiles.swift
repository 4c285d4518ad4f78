import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// The contents of the files of watched trees, as of the last comparison.
struct WatchedFiles {
    private struct Seen {
        var status: FileStatus
        var fingerprint: FileFingerprint
        /// A Boolean value that indicates whether any later write is visible in the metadata.
        ///
        /// This is the case if the file was old enough when it was read.
        var wasWrittenBefore: Bool
    }
    private let inotify: Inotify
    private let limit: Int
    private var trees: Set<WatchedTree> = []
    private var folders: [Int32: Set<RawPath>?] = [:]
    private var files: [String: Seen] = [:]
    private var problems: [BackplaneError] = []
    /// A Boolean value that indicates whether the last comparison found a changed file open for writing.
    ///
    /// The file may have been closed already: the kernel raises the event of a close before it counts one writer less.
    private(set) var foundOpenFile = false

    /// Creates an empty set of files.
    ///
    /// - Parameter limit: The maximum size of a file whose contents are compared, in bytes; a larger file counts as
    ///   changed when it is written.
    init(_ inotify: Inotify, comparing limit: Int) { (self.inotify, self.limit) = (inotify, limit) }

    /// Returns whether an event may concern a watched file.
    func concerns(_ event: Inotify.Event) -> Bool {
        if event.kinds.contains(.overflow) { return true }
        guard let names = folders[event.watch] else { return false }
        guard let names, let name = event.name else { return true }
        return names.contains(name)
    }

    /// Replaces the watched trees; the files of new trees are not reported as changes.
    mutating func replace(_ wanted: Set<WatchedTree>) -> WatchedChanges {
        let new = wanted.subtracting(trees)
        trees = wanted
        return look(takingAsIs: new)
    }

    /// Compares all files, and reads those whose metadata may have changed.
    mutating func look(takingAsIs new: Set<WatchedTree> = []) -> WatchedChanges {
        foundOpenFile = false
        var paths: Set<String> = [], problems: [BackplaneError] = [], folders: [Int32: Set<RawPath>?] = [:],
            seen: [String: Seen] = [:]
        for tree in trees {
            let walk = TreeWalk(through: tree, inotify)
            folders.merge(walk.folders) { names, others in names.flatMap { names in others.map(names.union) } }
            for path in walk.files {
                seen[path] = look(at: path)
                if seen[path]?.fingerprint != files[path]?.fingerprint, files[path] != nil || !new.contains(tree) {
                    paths.insert(path)
                }
            }
            problems += walk.problems.filter { !problems.contains($0) }
        }
        paths.formUnion(
            files.keys.filter { path in seen[path] == nil && trees.contains { path.hasPrefix($0.path + "/") } })
        for number in self.folders.keys where folders[number] == nil { inotify.remove(number) }
        defer { (self.folders, self.files, self.problems) = (folders, seen, problems) }
        return WatchedChanges(paths: paths, problems: problems.filter { !self.problems.contains($0) })
    }

    /// Returns the state of a file, or `nil` if there is none.
    ///
    /// A file that is open for writing keeps its previous state, because closing it raises an event.
    private mutating func look(at path: String) -> Seen? {
        guard let status = try? FileStatus(at: path) else { return nil }
        let before = files[path]
        if let before, before.wasWrittenBefore, before.status == status { return before }
        guard status.kind == .file else {
            return Seen(status: status, fingerprint: FileFingerprint(of: path, limit: limit), wasWrittenBefore: false)
        }
        let age = Date().timeIntervalSince1970 - Double(status.modified.seconds)
        if !isOpenForWriting(path) {
            let fingerprint = FileFingerprint(of: path, limit: limit)
            // Otherwise part of it may have been written while it was read.
            if !isOpenForWriting(path), (try? FileStatus(at: path)) == status {
                return Seen(status: status, fingerprint: fingerprint, wasWrittenBefore: age > 2)
            }
        }
        foundOpenFile = true
        return before
    }

    private func isOpenForWriting(_ path: String) -> Bool {
        (try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))?.isOpenForWriting == true
    }
}
