// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A communication controller keeps nothing.
final class StoringCommunication: CommunicationController {
    init(_ context: Context) {
        _ = context.store  // error: 'store' is unavailable: a component that uses the network has no store: the data access controller of its manager has
    }
}
