// swift-format-ignore-file

import Backplane

struct Bell: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
}

/// A network service looks up no manager.
final class Caller: NetworkService {
    init(_ context: Context) async throws {
        _ = try await context.manager("Bell", as: Bell.self)  // error: value of type 'NetworkServiceContext<Caller>' has no member 'manager'
        _ = try await context.resolve(Bell.self)  // error: value of type 'NetworkServiceContext<Caller>' has no member 'resolve'
    }
}
