// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A manager keeps nothing itself: that is its data access controller's.
final class StoringManager: Manager {
    init(_ context: Context) {
        _ = context.store  // error: 'store' is unavailable: a manager cannot use the store: call its data access controller through a wire
    }
}
