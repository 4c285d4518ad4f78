/// The libraries that the host refused, and whether to try them again.
struct Refusals: Sendable, Hashable {
    /// The libraries that do not fit the active ones.
    private(set) var libraries: Set<String> = []
    /// A Boolean value that indicates whether another attempt may succeed.
    private(set) var areWorthTrying = false
    /// A Boolean value that indicates whether the user has not been notified of the refusal yet.
    private var areUntold = false

    /// Removes libraries that have been replaced by newer ones.
    mutating func forget(_ newer: Set<String>) {
        libraries.subtract(newer)
        if libraries.isEmpty { areUntold = false }
    }

    /// Removes libraries that are now active; the others may fit them.
    mutating func swapped(_ taken: Set<String>) {
        libraries.subtract(taken)
        areWorthTrying = !libraries.isEmpty
        if libraries.isEmpty { areUntold = false }
    }

    /// Marks the libraries as worth another attempt because something else has changed.
    mutating func areWorthTryingAgain() { areWorthTrying = !libraries.isEmpty }

    /// Adds libraries that were refused.
    ///
    /// - Parameters:
    ///   - isNew: Whether they were refused for the first time.
    ///   - moreIsComing: Whether other libraries that may fit them are being built.
    /// - Returns: A Boolean value that indicates whether to notify the user now.
    mutating func refused(_ refused: Set<String>, isNew: Bool, moreIsComing: Bool) -> Bool {
        libraries.formUnion(refused)
        if isNew { areUntold = true }
        areWorthTrying = moreIsComing || refused != libraries
        guard !areWorthTrying, areUntold else { return false }
        areUntold = false
        return true
    }

    /// Returns all libraries if another attempt is worthwhile.
    mutating func tryAgain() -> Set<String>? {
        guard areWorthTrying, !libraries.isEmpty else { return nil }
        areWorthTrying = false
        return libraries
    }
}
