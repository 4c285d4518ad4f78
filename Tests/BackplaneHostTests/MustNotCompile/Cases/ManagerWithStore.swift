// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A manager keeps nothing itself: that is its data access controller's.
final class Hoarder: Manager {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'ManagerContext<Hoarder>' has no member 'store'
    }
}
