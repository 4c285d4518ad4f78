/// Values in the order in which they came: what a fake was asked, say.
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

    public init() {}

    public func add(_ value: Value) { values.change { $0.append(value) } }

    public var all: [Value] { values.value }

    /// Waits until there are so many, and gives the first so many.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func first(_ count: Int) async throws -> [Value] {
        try await values.wait { $0.count >= count }
        return Array(all.prefix(count))
    }
}

extension Recording {
    /// Waits for the first that is wanted, or gives the one that is there.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func first(where isWanted: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        while true {
            if let value = all.first(where: isWanted) { return value }
            try await values.wait { $0.contains(where: isWanted) }
        }
    }
}
