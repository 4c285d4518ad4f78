// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A network service keeps nothing.
final class StoringService: NetworkService {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'NetworkServiceContext<StoringService>' has no member 'store'
    }
}
