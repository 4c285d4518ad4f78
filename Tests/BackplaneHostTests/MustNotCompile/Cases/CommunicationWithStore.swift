// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A communication controller keeps nothing.
final class StoringCommunication: CommunicationController {
    init(_ context: Context) {
        _ = context.store  // error: 'store' is unavailable: a component that uses the network cannot use the store: only its manager's data access controller can
    }
}
