// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A manager keeps nothing itself: that is its data access controller's.
final class StoringManager: Manager {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'ManagerContext<StoringManager>' has no member 'store'
    }
}
