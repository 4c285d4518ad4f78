// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Int>()
    let count = SyncMethod<Nothing, Int>()
    let returns = StreamMethod<Nothing, Int>()
}

/// The table has the methods of the contract.
final class Librarian: Manager {
    typealias Provides = Loans
    init(_ context: Context) {}
    private func lend(_ days: Int, _ call: Call) async throws -> Int { days }

    static func methods(_ table: inout Methods) {
        table.async(\.lent) { _, days, _ in 3 }  // error: value of type 'Librarian.Provides' (aka 'Loans') has no member 'lent'
        table.sync(\.counts) { _, _, _ in 3 }  // error: value of type 'Librarian.Provides' (aka 'Loans') has no member 'counts'
        table.async(\.lent) { librarian, days, call in try await librarian.lend(days, call) }  // error: value of type 'Librarian.Provides' (aka 'Loans') has no member 'lent'
    }
}
