import Backplane

/// A component whose calls may be what occupies Swift's thread pool.
struct WatchedComponent: Sendable {
    /// Stays the same when another instance takes its place.
    let id: ObjectIdentifier
    let name: String
    /// "org.example.books 1.2.0 (libBooks.so)"
    let plugin: String
    let callsInFlight: @Sendable () -> Int
}

/// The components with calls in flight, and since when: candidates for having occupied a pool, and no more than that.
///
/// Nobody notes when a call began. What is known is since which look there have been some at every look.
struct PoolCandidates {
    struct Candidate: Equatable {
        var name, plugin: String
        var calls: Int
        var since: Deadline
    }
    private var since: [ObjectIdentifier: Deadline] = [:]

    /// One look: those that have calls in flight now, the longest first.
    mutating func look(at components: [WatchedComponent], _ now: Deadline) -> [Candidate] {
        let busy = components.map { ($0, $0.callsInFlight()) }.filter { $0.1 > 0 }
        since = Dictionary(busy.map { ($0.0.id, since[$0.0.id] ?? now) }) { first, _ in first }
        let candidates = busy.map { Candidate(name: $0.name, plugin: $0.plugin, calls: $1, since: since[$0.id] ?? now) }
        return candidates.enumerated().sorted { ($0.element.since, $0.offset) < ($1.element.since, $1.offset) }.map(\.element)
    }
}
