// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
}

/// A network service looks up no manager.
final class LookUpService: NetworkService {
    init(_ context: Context) async throws {
        _ = try await context.manager("Loans", as: Loans.self)  // error: value of type 'NetworkServiceContext<LookUpService>' has no member 'manager'
        _ = try await context.resolve(Loans.self)  // error: value of type 'NetworkServiceContext<LookUpService>' has no member 'resolve'
    }
}
