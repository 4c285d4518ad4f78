/// A list of values in the order of their arrival, such as the inputs of a fake.
///
/// ```swift
/// let searches = Recording<String>()
/// let network = Fake(LibraryNetwork.self) { network in
///     network.async(\.find) { query, _ in
///         searches.add(query.text)
///         return []
///     }
/// }
/// ```
public final class Recording<Value: Sendable>: Sendable {
    fileprivate let values = WatchedState<[Value]>([])

    /// Creates an empty recording.
    public init() {}

    /// Appends a value.
    public func add(_ value: Value) { values.change { $0.append(value) } }

    /// All values so far.
    public var all: [Value] { values.value }

    /// Waits until there are at least `count` values, and returns the first `count`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func first(_ count: Int) async throws -> [Value] {
        try await values.wait { $0.count >= count }
        return Array(all.prefix(count))
    }
}

extension Recording {
    /// Waits until the values meet a condition, and returns them.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    @discardableResult
    public func until(_ isReached: @escaping @Sendable ([Value]) -> Bool) async throws -> [Value] {
        try await values.wait(until: isReached)
        return all
    }

    /// Waits for a value that meets a condition, and returns the first one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func first(where isWanted: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        while true {
            if let value = all.first(where: isWanted) { return value }
            try await values.wait { $0.contains(where: isWanted) }
        }
    }
}
