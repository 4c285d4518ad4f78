// swift-format-ignore-file

import Backplane
import BackplaneNetwork

/// A data access controller reaches no network.
final class FetchingStore: DataAccessController {
    init(_ context: Context) {
        _ = context.http  // error: value of type 'DataAccessContext<FetchingStore>' has no member 'http'
    }
}
