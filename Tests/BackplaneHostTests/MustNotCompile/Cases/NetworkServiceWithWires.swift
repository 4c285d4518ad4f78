// swift-format-ignore-file

import Backplane

/// A network service calls nobody.
final class Asker: NetworkService {
    init(_ context: Context) {
        _ = context.wires  // error: value of type 'NetworkServiceContext<Asker>' has no member 'wires'
    }
}
