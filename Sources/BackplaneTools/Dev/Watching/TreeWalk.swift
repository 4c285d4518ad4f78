import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// A walk through a watched tree: each folder is watched before it is read, so that later changes raise events.
struct TreeWalk {
    /// The relevant names in each folder, keyed by watch descriptor; `nil` means all names.
    private(set) var folders: [Int32: Set<RawPath>?] = [:]
    private(set) var files: Set<String> = []
    private(set) var problems: [BackplaneError] = []
    private let inotify: Inotify
    /// The remaining number of symbolic links to follow, of the 40 that Linux allows in a path.
    private var linksLeft = 40

    init(through tree: WatchedTree, _ inotify: Inotify) {
        self.inotify = inotify
        watchWay(to: RawPath(tree.path))
        if tree.extent == .file { files.insert(tree.path) } else { visit(tree.path, of: tree) }
    }

    /// Watches every folder on the path for the path's next component, and follows symbolic links.
    private mutating func watchWay(to path: RawPath) {
        var here = RawPath.root
        for name in path.names {
            watch(here, for: name)
            here = here.appending(name)
            guard linksLeft > 0, let destination = here.destination else { continue }
            linksLeft -= 1
            watchWay(to: destination.isAbsolute ? destination : here.folder.appending(destination))
        }
    }

    private mutating func visit(_ folder: String, of tree: WatchedTree) {
        watch(RawPath(folder))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where tree.contains(name) {
            let path = FilePath.join(folder, name)
            if tree.extent == .recursive, RawPath(path).kind == .folder {
                visit(path, of: tree)
            } else {
                files.insert(path)
            }
        }
    }

    /// Watches a folder.
    ///
    /// - Parameter name: The only relevant name in the folder, or `nil` if all names are.
    private mutating func watch(_ folder: RawPath, for name: RawPath? = nil) {
        do throws(SystemError) {
            let number = try inotify.add(folder, [.created, .deleted, .movedHere, .movedAway, .written]),
                names = folders[number] ?? []
            folders[number] = .some(name.flatMap { name in names.map { $0.union([name]) } })
        } catch {
            // The parent of a missing folder is watched for it; an unreadable folder on the path is skipped.
            if ![ENOENT, ENOTDIR, ELOOP].contains(error.number), name == nil || error.number == ENOSPC {
                problems.append(Inotify.problem(error, watching: folder.text))
            }
        }
    }
}
