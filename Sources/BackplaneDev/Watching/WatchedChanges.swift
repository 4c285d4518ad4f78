import Backplane
import BackplaneHost

/// What has happened to watched files: nothing says how, since by now it may have happened again.
struct WatchedChanges: Sendable, Hashable {
    /// Files that were written, made, moved or removed; folders that moved away with all that was in them; and folders of trees that came,
    /// went or are others. Each below the path of its tree, as that was given. Bytes that are not UTF-8 are replaced.
    var paths: Set<String> = []
    /// `false`: any file of the trees may have changed, since more happened than the kernel keeps or lets be watched.
    var isComplete = true
    /// Folders that cannot be watched, and why.
    var problems: [BackplaneError] = []

    var isEmpty: Bool { paths.isEmpty && isComplete && problems.isEmpty }

    mutating func add(_ other: WatchedChanges) {
        paths.formUnion(other.paths)
        isComplete = isComplete && other.isComplete
        for problem in other.problems { add(problem) }
    }

    /// Of folders beyond a limit the first stands for all, and of others some do.
    mutating func add(_ problem: BackplaneError) {
        guard problems.count < 16, !problems.contains(where: { $0 == problem || $0.code == problem.code && problem.code == .watchLimit }) else { return }
        problems.append(problem)
    }
}
