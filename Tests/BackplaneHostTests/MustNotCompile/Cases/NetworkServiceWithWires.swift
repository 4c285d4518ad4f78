// swift-format-ignore-file

import Backplane

/// A network service calls nobody.
final class WiredService: NetworkService {
    init(_ context: Context) {
        _ = context.wires  // error: value of type 'NetworkServiceContext<WiredService>' has no member 'wires'
    }
}
