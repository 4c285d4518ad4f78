// swift-format-ignore-file

import Backplane

/// A network service calls nobody.
final class WiredService: NetworkService {
    init(_ context: Context) {
        _ = context.wires  // error: 'wires' is unavailable: a network service cannot call components: its communication controller calls them
    }
}
