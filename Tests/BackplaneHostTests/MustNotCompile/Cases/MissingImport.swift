// swift-format-ignore-file

import Backplane

/// What a role may use is in a module that the file imports.
final class LoanService: NetworkService {
    init(_ context: Context) {
        _ = context.http  // error: value of type 'NetworkServiceContext<LoanService>' has no member 'http'
    }
}

final class LoanStore: DataAccessController {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'DataAccessContext<LoanStore>' has no member 'store'
    }
}
