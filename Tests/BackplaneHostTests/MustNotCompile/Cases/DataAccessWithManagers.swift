// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
}

/// A data access controller looks up no manager.
final class LookUpStore: DataAccessController {
    init(_ context: Context) async throws {
        _ = try await context.manager("Loans", as: Loans.self)  // error: 'manager(_:as:for:)' is unavailable: only a manager can look up managers: let the manager that owns this component call the other one
        _ = try await context.resolve(Loans.self)  // error: 'resolve(_:where:for:)' is unavailable: only a manager can look up managers: let the manager that owns this component call the other one
    }
}
