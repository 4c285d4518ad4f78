// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Int>()
    let count = SyncMethod<Nothing, Int>()
    let returns = StreamMethod<Nothing, Int>()
}

/// The body of a SyncMethod does not wait.
final class Librarian: Manager {
    typealias Provides = Loans
    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.count) { librarian, _, call in try await librarian.count(call) }  // error: cannot pass function of type '@concurrent @Sendable (Librarian, Nothing, Call) async throws -> Int' to parameter expecting synchronous function type
    }
    private func count(_ call: Call) async throws -> Int { 3 }
}
