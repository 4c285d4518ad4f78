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
        table.sync(\.lend) { librarian, days, call in try await librarian.lend(days, call) }  // error: 'sync' is unavailable: the contract declares this method as an AsyncMethod: write `table.async`
        table.sync(\.lend) { _, days, _ in  // error: 'sync' is unavailable: the contract declares this method as an AsyncMethod: write `table.async`
            let more = days + 1
            return more
        }
        table.async(\.count) { _, _, _ in 3 }  // error: 'async' is unavailable: the contract declares this method as a SyncMethod: write `table.sync`, with a body that does not wait
    }
    private func lend(_ days: Int, _ call: Call) async throws -> Int { days }
}
