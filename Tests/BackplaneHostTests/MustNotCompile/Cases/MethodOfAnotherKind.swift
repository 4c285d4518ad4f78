// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Int>()
    let count = SyncMethod<Nothing, Int>()
    let returns = StreamMethod<Nothing, Int>()
}

/// The kind of a method is the contract's.
final class Librarian: Manager {
    typealias Provides = Loans
    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.lend) { librarian, days, call in try await librarian.lend(days, call) }  // error: 'sync' is unavailable: this method is an AsyncMethod: write `table.async`
        table.sync(\.lend) { _, days, _ in  // error: 'sync' is unavailable: this method is an AsyncMethod: write `table.async`
            let more = days + 1
            return more
        }
        table.async(\.count) { _, _, _ in 3 }  // error: 'async' is unavailable: this method is a SyncMethod: write `table.sync`, whose body does not wait
        table.async(\.returns) { _, _, _ in [3] }  // error: 'async' is unavailable: this method is a StreamMethod: write `table.stream`, with a body that sends
        table.async(\.returns) { _, _, elements, _ in try await elements.send(3) }  // error: 'async' is unavailable: this method is a StreamMethod: write `table.stream`, with a body that sends
        table.sync(\.returns) { _, _, _ in [3] }  // error: 'sync' is unavailable: this method is a StreamMethod: write `table.stream`, with a body that sends
        table.sync(\.returns) { librarian, _, elements, call in  // error: 'sync' is unavailable: this method is a StreamMethod: write `table.stream`, with a body that sends
            let days = try await librarian.lend(3, call)
            try await elements.send(days)
        }
        table.stream(\.lend) { _, days, elements, _ in try await elements.send(days) }  // error: 'stream' is unavailable: this method is an AsyncMethod: write `table.async`, with a body that returns
        table.stream(\.count) { _, _, elements, _ in try await elements.send(3) }  // error: 'stream' is unavailable: this method is a SyncMethod: write `table.sync`, with a body that returns
    }
    private func lend(_ days: Int, _ call: Call) async throws -> Int { days }
}
