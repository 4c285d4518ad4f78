// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A network service keeps nothing.
final class StoringService: NetworkService {
    init(_ context: Context) {
        _ = context.store  // error: 'store' is unavailable: a component that uses the network cannot use the store: only its manager's data access controller can
    }
}
