// swift-format-ignore-file

import Backplane
import BackplaneNetwork

/// A data access controller reaches no network.
final class FetchingStore: DataAccessController {
    init(_ context: Context) {
        _ = context.http  // error: 'http' is unavailable: a data access controller has no HTTP: the communication controller of its manager has
    }
}
