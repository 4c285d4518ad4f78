// swift-format-ignore-file

import Backplane

struct WallTime: Contract {
    static let version: Version = "1.0.0"
    let now = SyncMethod<Nothing, Double>()
}

/// A data access controller calls nobody.
final class WiredStore: DataAccessController {  // error: type 'WiredStore' does not conform to protocol 'DataAccessController' // error: 'DataAccessController' requires the types 'WiredStore.Wires' and 'NoWires' be equivalent
    struct Wires: Wiring {
        let clock: Wire<WallTime>
    }
    init(_ context: Context) {}
}
