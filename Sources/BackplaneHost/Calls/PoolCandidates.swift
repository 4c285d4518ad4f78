import Backplane

/// A component whose calls may be occupying Swift's thread pool.
struct WatchedComponent: Sendable {
    /// The component's identity, which stays the same when its instance is replaced.
    let id: ObjectIdentifier
    let name: String
    /// The plugin and its library, such as "org.example.books 1.2.0 (libBooks.so)".
    let plugin: String
    let callsInFlight: @Sendable () -> Int
}

/// The components with calls in flight, each of which may or may not be the one that occupies a pool.
///
/// The start of a call is not recorded, only the first of consecutive samples with calls in flight.
struct PoolCandidates {
    struct Occupant: Equatable {
        var name, plugin: String
        var calls: Int
        var since: Deadline
    }
    private var since: [ObjectIdentifier: Deadline] = [:]

    /// Takes a sample, and returns the components with calls in flight, those that have been busy longest first.
    mutating func look(at components: [WatchedComponent], _ now: Deadline) -> [Occupant] {
        let busy = components.map { ($0, $0.callsInFlight()) }.filter { $0.1 > 0 }
        since = Dictionary(busy.map { ($0.0.id, since[$0.0.id] ?? now) }) { first, _ in first }
        let candidates = busy.map { Occupant(name: $0.name, plugin: $0.plugin, calls: $1, since: since[$0.id] ?? now) }
        return candidates.enumerated().sorted { ($0.element.since, $0.offset) < ($1.element.since, $1.offset) }.map(
            \.element)
    }
}
