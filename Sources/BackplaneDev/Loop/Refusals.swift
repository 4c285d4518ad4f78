/// Libraries that the host would not take, and what is to become of them.
struct Refusals: Sendable, Hashable {
    /// They fit what is in force no more, or not yet.
    private var libraries: Set<String> = []
    /// They may be taken now.
    private var areWorthTrying = false
    /// Nobody was told of them yet.
    private var areUntold = false

    /// There are newer ones in their place.
    mutating func forget(_ newer: Set<String>) {
        libraries.subtract(newer)
        if libraries.isEmpty { areUntold = false }
    }

    /// These came into force: the others may fit now.
    mutating func swapped(_ taken: Set<String>) {
        libraries.subtract(taken)
        areWorthTrying = !libraries.isEmpty
        if libraries.isEmpty { areUntold = false }
    }

    /// Something else has changed: they may fit now.
    mutating func areWorthTryingAgain() { areWorthTrying = !libraries.isEmpty }

    /// These were refused.
    ///
    /// - Parameters:
    ///   - isNew: for the first time.
    ///   - moreIsComing: others are being built that may fit them.
    /// - Returns: is a person to be told now?
    mutating func refused(_ refused: Set<String>, isNew: Bool, moreIsComing: Bool) -> Bool {
        libraries.formUnion(refused)
        if isNew { areUntold = true }
        areWorthTrying = moreIsComing || refused != libraries
        guard !areWorthTrying, areUntold else { return false }
        areUntold = false
        return true
    }

    /// All of them together, where that is worth trying.
    mutating func tryAgain() -> Set<String>? {
        guard areWorthTrying, !libraries.isEmpty else { return nil }
        areWorthTrying = false
        return libraries
    }
}
