import Backplane

/// The changes of watched files: nothing says how, since by now it may have happened again.
struct WatchedChanges: Sendable, Hashable {
    /// Files that came, went, or hold something else.
    var paths: Set<String> = []
    /// Why something is not watched.
    var problems: [BackplaneError] = []

    var isEmpty: Bool { paths.isEmpty && problems.isEmpty }

    mutating func add(_ other: WatchedChanges) {
        paths.formUnion(other.paths)
        problems += other.problems
    }
}
