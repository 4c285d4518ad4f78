import Backplane

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
