// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A communication controller keeps nothing.
final class Keeper: CommunicationController {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'CommunicationContext<Keeper>' has no member 'store'
    }
}
