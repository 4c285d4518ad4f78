public import Backplane

/// The plugin of docs/streams.md.
struct FeedPlugin: Plugin {
    static let id = "org.example.feed"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(FeedManager.self)
        registrar.add(TotalsManager.self)
    }
}

public struct FeedQuery: Codable, Sendable {
    var first: Int
}

extension FeedQuery: Resumable {
    public func resuming(after last: Change) -> FeedQuery { FeedQuery(first: last.number + 1) }
}

public struct Change: Codable, Sendable {
    var number: Int
    var amount: Int
}

public struct Feed: Contract {
    public static let version: Version = "1.1.0"
    public let changes = StreamMethod<FeedQuery, Change>()
    public init() {}
}

final class FeedManager: Manager {
    typealias Provides = Feed

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.stream(\.changes) { feed, query, elements, call in
            try await elements.send(contentsOf: feed.source(query))
        }
    }

    private func source(_ query: FeedQuery) -> AsyncStream<Change> {
        AsyncStream { changes in
            for number in query.first..<query.first + 100 { changes.yield(Change(number: number, amount: number)) }
            changes.finish()
        }
    }
}

struct Totals: Contract {
    static let version: Version = "1.0.0"
    /// The sum of all changes from this number on.
    let total = AsyncMethod<Int, Int>()
}

final class TotalsManager: Manager {
    typealias Provides = Totals
    struct Wires: Wiring {
        let feed: Wire<Feed>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.total) { totals, first, call in try await totals.total(FeedQuery(first: first), call) }
    }

    private func total(_ query: FeedQuery, _ call: Call) async throws -> Int {
        var total = 0
        for try await change in wires.feed.changes(query, call) { total += change.amount }
        return total
    }
}
