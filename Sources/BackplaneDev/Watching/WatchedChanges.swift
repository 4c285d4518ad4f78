import Backplane

/// The changes of watched files; the kind of a change is left out, because it may be outdated already.
struct WatchedChanges: Sendable, Hashable {
    /// The files that were created or deleted, or whose contents changed.
    var paths: Set<String> = []
    /// The reasons why something is not watched.
    var problems: [BackplaneError] = []

    var isEmpty: Bool { paths.isEmpty && problems.isEmpty }

    mutating func add(_ other: WatchedChanges) {
        paths.formUnion(other.paths)
        problems += other.problems
    }
}
