import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc
import Synchronization

/// The file watches of `backplane dev`, with a longer delay for sources and the manifest than for libraries.
struct DevWatching {
    private let sources, libraries: FileWatch

    /// The time without changes after which files are considered complete.
    ///
    /// An editor writes several files, a linker only one.
    private static let sourcesRest = Duration.milliseconds(50), librariesRest = Duration.milliseconds(10)

    /// Creates the watches without any paths.
    ///
    /// - Throws: `watch.unusable`.
    init(_ send: @escaping @Sendable (DevNews) -> Void) throws(BackplaneError) {
        sources = try FileWatch(quiet: Self.sourcesRest, comparing: 64 << 20) { send(.sources($0)) }
        // The application compares the contents of libraries.
        libraries = try FileWatch(quiet: Self.librariesRest, comparing: 0) { send(.libraries($0)) }
    }

    /// Replaces the watched paths.
    ///
    /// - Parameters:
    ///   - manifest: The path of the manifest.
    ///   - packages: The folders of the packages.
    func watch(_ composition: DevComposition?, manifest: String, packages: [String]) {
        let folders = Set((composition?.products ?? []).flatMap(\.folders))
        let outermost = folders.filter { folder in !folders.contains { folder.hasPrefix($0 + "/") } }
        let files =
            packages.map { FilePath.join($0, "Package.swift") } + [manifest]
            + (composition?.definitions ?? []).flatMap(\.files)
        sources.watch(
            Set(
                outermost.map { WatchedTree($0, .recursive) } + files.map { WatchedTree($0, .file) }
                    + packages.map { WatchedTree($0, .versionedManifests) }))
        let places = composition.map { $0.libraries.union($0.missing) } ?? []
        libraries.watch(Set(places.map { WatchedTree(FilePath.folder(of: $0), .libraries) }))
    }

    func close() {
        sources.close()
        libraries.close()
    }
}

/// A watch of files, on a separate thread, that compares them once they no longer change.
///
/// While there are no events, the thread sleeps without a timeout. It detects neither changes that another machine
/// makes in a shared file system nor writes through a memory mapping after the file was closed.
final class FileWatch: Sendable {
    private struct State {
        var files: WatchedFiles
        var news = WatchedChanges()
        /// The times of the first and the last event since the last comparison.
        var first, last: Deadline?
        /// The time of the next comparison if the last one found a changed file open for writing.
        var again: Deadline?
        /// The time between the last two comparisons for that reason.
        var pause = Duration.zero
        var isClosed = false

        /// Schedules another comparison if a changed file was found open for writing.
        mutating func lookAgain() {
            guard files.foundOpenFile, pause < FileWatch.longestPause else { return }
            pause = max(pause * 2, .milliseconds(10))
            again = .now + pause
        }
    }
    private enum Turn {
        case tell(WatchedChanges), sleep(until: Deadline?), end
    }
    private let inotify: Inotify
    private let state: Mutex<State>
    private let quiet: Duration
    /// The maximum delay of a change report.
    private static let patience = Duration.seconds(1)
    /// The time after which a file that is open for writing is no longer looked at until its next event.
    private static let longestPause = Duration.seconds(5)

    /// Creates a watch without any paths, and starts its thread.
    ///
    /// - Parameters:
    ///   - quiet: The time without events after which files are compared.
    ///   - limit: The maximum size of a file whose contents are compared, in bytes; a larger file counts as changed
    ///     when it is written.
    ///   - report: A function that receives the changes, on the watch's thread.
    /// - Throws: `watch.unusable`.
    init(quiet: Duration, comparing limit: Int, report: @escaping @Sendable (WatchedChanges) -> Void)
        throws(BackplaneError)
    {
        (self.quiet, inotify) = (quiet, try Inotify())
        state = Mutex(State(files: WatchedFiles(inotify, comparing: limit)))
        guard HostThread.tryStart("bp-watch", { self.work(report) }) else {
            throw BackplaneError(
                .watchUnusable,
                "no thread could be created to watch files: end other programs, or raise the limit on threads"
            )
        }
    }

    /// Replaces the watched trees; changes after the return are reported.
    func watch(_ trees: Set<WatchedTree>) {
        state.withLock { state in
            state.news.add(state.files.replace(trees))
            state.pause = .zero
            state.lookAgain()
        }
        inotify.wake()
    }

    /// Ends the thread; a report in progress may still finish, but no other report follows.
    func close() {
        state.withLock { $0.isClosed = true }
        inotify.wake()
    }

    private func work(_ report: (WatchedChanges) -> Void) {
        while true {
            switch state.withLock({ turn(&$0) }) {
            case .tell(let changes): report(changes)
            case .sleep(let deadline): inotify.wait(until: deadline)
            case .end: return
            }
        }
    }

    private func turn(_ state: inout State) -> Turn {
        if state.isClosed { return .end }
        if hasEvents(for: state.files) { (state.first, state.last, state.pause) = (state.first ?? .now, .now, .zero) }
        var due = state.again
        if let first = state.first, let last = state.last { due = min(last + quiet, first + Self.patience) }
        if let now = due, now <= .now {
            (state.first, state.last, state.again) = (nil, nil, nil)
            state.news.add(state.files.look())
            state.lookAgain()
            due = state.again
        }
        defer { state.news = WatchedChanges() }
        return state.news.isEmpty ? .sleep(until: due) : .tell(state.news)
    }

    /// Reads up to 64 batches of the kernel's events, so that a fast writer cannot keep the thread busy.
    private func hasEvents(for files: WatchedFiles) -> Bool {
        var isConcerned = false
        for _ in 0..<64 {
            guard let events = try? inotify.events(), !events.isEmpty else { break }
            isConcerned = isConcerned || events.contains(where: files.concerns)
        }
        return isConcerned
    }
}

/// The changes of watched files, without the kind of change, which may already be outdated.
struct WatchedChanges: Sendable, Hashable {
    /// The files that were created or deleted, or whose contents changed.
    var paths: Set<String> = []
    /// The reasons why files are not watched.
    var problems: [BackplaneError] = []

    var isEmpty: Bool { paths.isEmpty && problems.isEmpty }

    mutating func add(_ other: WatchedChanges) {
        paths.formUnion(other.paths)
        problems += other.problems
    }
}

/// A tree of watched files: a whole tree, the libraries or manifests of a folder, or a single file.
struct WatchedTree: Sendable, Hashable {
    enum Extent: Sendable, Hashable {
        /// A folder with everything below it, except for linked folders, which may refer back to it.
        case recursive
        /// The libraries directly in a folder.
        case libraries
        /// The files directly in a folder that describe a package for one version of Swift.
        case versionedManifests
        case file
    }

    /// The absolute path, which need not exist; symbolic links in it are followed, and changes to them are detected.
    let path: String
    let extent: Extent

    init(_ path: String, _ extent: Extent) { (self.path, self.extent) = (FilePath.absolute(path), extent) }

    /// Returns whether a file or folder of the given name belongs to the tree.
    ///
    /// Excluded are hidden names, such as build folders and repositories, and temporary files of editors: Vim creates
    /// `4913` to test whether a folder is writable.
    func contains(_ name: String) -> Bool {
        switch extent {
        case .recursive:
            !name.hasPrefix(".") && !name.hasSuffix("~") && !(name.hasPrefix("#") && name.hasSuffix("#"))
                && name != "4913"
        case .libraries: name.hasPrefix("lib") && name.hasSuffix(".so")
        case .versionedManifests: DevPackage.isVersionedManifest(name)
        case .file: false
        }
    }
}

/// A walk through a watched tree: each folder is watched before it is read, so that later changes raise events.
struct TreeWalk {
    /// The relevant names in each folder, keyed by watch descriptor; `nil` means all names.
    private(set) var folders: [Int32: Set<String>?] = [:]
    private(set) var files: Set<String> = []
    private(set) var problems: [BackplaneError] = []
    private let inotify: Inotify
    /// The remaining number of symbolic links to follow, of the 40 that Linux allows in a path.
    private var linksLeft = 40

    init(through tree: WatchedTree, _ inotify: Inotify) {
        self.inotify = inotify
        watchWay(to: tree.path)
        if tree.extent == .file { files.insert(tree.path) } else { visit(tree.path, of: tree) }
    }

    /// Watches each folder on the path for the next component of the path, and follows symbolic links.
    private mutating func watchWay(to path: String) {
        var here = "/"
        for name in FilePath.names(in: path) {
            watch(here, for: name)
            here = FilePath.join(here, name)
            guard linksLeft > 0, let destination = FilePath.destination(of: here) else { continue }
            linksLeft -= 1
            watchWay(to: FilePath.join(FilePath.folder(of: here), destination))
        }
    }

    private mutating func visit(_ folder: String, of tree: WatchedTree) {
        watch(folder)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where tree.contains(name) {
            let path = FilePath.join(folder, name)
            if tree.extent == .recursive, (try? FileStatus(at: path))?.kind == .folder {
                visit(path, of: tree)
            } else {
                files.insert(path)
            }
        }
    }

    /// Watches a folder.
    ///
    /// - Parameter name: The only relevant name in the folder, or `nil` if all names are.
    private mutating func watch(_ folder: String, for name: String? = nil) {
        do throws(SystemError) {
            let number = try inotify.add(folder, [.created, .deleted, .movedHere, .movedAway, .written]),
                names = folders[number] ?? []
            folders[number] = .some(name.flatMap { name in names.map { $0.union([name]) } })
        } catch {
            // The parent of a missing folder is watched for it; an unreadable folder on the path is skipped.
            if ![ENOENT, ENOTDIR, ELOOP].contains(error.number), name == nil || error.number == ENOSPC {
                problems.append(Inotify.problem(error, watching: folder))
            }
        }
    }
}

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
    private var folders: [Int32: Set<String>?] = [:]
    private var files: [String: Seen] = [:]
    private var problems: [BackplaneError] = []
    /// A Boolean value that indicates whether the last comparison found a changed file open for writing.
    ///
    /// The file may have been closed already, because the kernel raises the event of a close before it updates the
    /// number of writers.
    private(set) var foundOpenFile = false

    /// Creates an empty set of files.
    ///
    /// - Parameter limit: The maximum size of a file whose contents are compared, in bytes; a larger file counts as
    ///   changed when it is written.
    init(_ inotify: Inotify, comparing limit: Int) { (self.inotify, self.limit) = (inotify, limit) }

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
        var paths: Set<String> = [], problems: [BackplaneError] = [], folders: [Int32: Set<String>?] = [:],
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

/// A fingerprint that shows whether the contents of a file have changed, no matter how often it was written.
///
/// The hash is FNV-1a. `Hasher` is seeded per process, and fingerprints may be compared with those of another run. It
/// does not protect against forgery; two versions of a file collide by chance with a probability of 1 in 2⁶⁴.
enum FileFingerprint: Sendable, Hashable {
    case missing
    case contents(size: Int, hash: UInt64)
    /// A file too large to be read; equal as long as its metadata is equal.
    case large(FileStatus)
    /// A folder, a pipe or another special file.
    case other
    case unreadable(SystemError)

    /// Reads the file at `path`, following links.
    ///
    /// - Parameter limit: The maximum number of bytes to read; larger files are compared by metadata.
    init(of path: String, limit: Int = 64 << 20) {
        do throws(SystemError) {
            // Without `O_NONBLOCK`, opening a pipe would block.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), status = try FileStatus(of: file)
            guard status.kind == .file else {
                self = .other
                return
            }
            guard status.size <= limit else {
                self = .large(status)
                return
            }
            // Read one byte more than the size, so that a file that grows in the meantime is recognised as different.
            let bytes = try file.bytes(count: status.size + 1)
            self = .contents(size: bytes.count, hash: Self.hash(bytes))
        } catch {
            self = error.number == ENOENT || error.number == ENOTDIR ? .missing : .unreadable(error)
        }
    }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return hash
        }
    }
}
