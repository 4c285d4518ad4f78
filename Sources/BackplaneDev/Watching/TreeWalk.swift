import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// One walk through a watched tree: each folder is watched before it is read, so that what the walk misses is an event.
struct TreeWalk {
    /// The names that matter in a folder, by the kernel's number for it; `nil`: all of them.
    private(set) var folders: [Int32: Set<RawPath>?] = [:]
    private(set) var files: Set<String> = []
    private(set) var problems: [BackplaneError] = []
    private let inotify: Inotify
    /// As many as Linux follows for a path.
    private var linksLeft = 40

    init(through tree: WatchedTree, _ inotify: Inotify) {
        self.inotify = inotify
        watchWay(to: RawPath(tree.path))
        if tree.extent == .file { files.insert(tree.path) } else { visit(tree.path, of: tree) }
    }

    /// Watches every folder on the way for the next name on it, where a link leads too.
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
            if tree.extent == .recursive, RawPath(path).kind == .folder { visit(path, of: tree) } else { files.insert(path) }
        }
    }

    /// - Parameter name: all that matters there; `nil`: everything does.
    private mutating func watch(_ folder: RawPath, for name: RawPath? = nil) {
        do throws(SystemError) {
            let number = try inotify.add(folder, [.created, .deleted, .movedHere, .movedAway, .written]), names = folders[number] ?? []
            folders[number] = .some(name.flatMap { name in names.map { $0.union([name]) } })
        } catch {
            // Where there is no folder its name is watched; and one on the way that may not be read is passed.
            if ![ENOENT, ENOTDIR, ELOOP].contains(error.number), name == nil || error.number == ENOSPC {
                problems.append(Inotify.problem(error, watching: folder.text))
            }
        }
    }
}
