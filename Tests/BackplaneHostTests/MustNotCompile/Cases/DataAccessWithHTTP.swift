// swift-format-ignore-file

import Backplane
import BackplaneNetwork

/// A data access controller reaches no network.
final class FetchingStore: DataAccessController {
    init(_ context: Context) {
        _ = context.http  // error: 'http' is unavailable: a data access controller cannot use HTTP: only its manager's communication controller can
    }
}
