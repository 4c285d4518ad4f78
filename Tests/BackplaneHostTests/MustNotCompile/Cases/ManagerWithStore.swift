// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A manager keeps nothing itself: that is its data access controller's.
final class StoringManager: Manager {
    init(_ context: Context) {
        _ = context.store  // error: 'store' is unavailable: a manager has no store: its data access controller has, and a manager calls that by a wire
    }
}
