// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A communication controller keeps nothing.
final class StoringCommunication: CommunicationController {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'CommunicationContext<StoringCommunication>' has no member 'store'
    }
}
