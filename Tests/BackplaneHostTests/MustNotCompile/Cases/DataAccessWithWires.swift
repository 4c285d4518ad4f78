// swift-format-ignore-file

import Backplane

struct WallTime: Contract {
    static let version: Version = "1.0.0"
    let now = SyncMethod<Nothing, Double>()
}

/// A data access controller calls nobody.
final class Asker: DataAccessController {  // error: type 'Asker' does not conform to protocol 'DataAccessController' // error: 'DataAccessController' requires the types 'Asker.Wires' and 'NoWires' be equivalent
    struct Wires: Wiring {
        let clock: Wire<WallTime>
    }
    init(_ context: Context) {}
}
