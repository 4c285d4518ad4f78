// swift-format-ignore-file

import Backplane
import BackplaneStorage

/// A network service keeps nothing.
final class Keeper: NetworkService {
    init(_ context: Context) {
        _ = context.store  // error: value of type 'NetworkServiceContext<Keeper>' has no member 'store'
    }
}
