// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Int>()
    let count = SyncMethod<Nothing, Int>()
    let returns = StreamMethod<Nothing, Int>()
}

/// A wire is a `Wire` of a contract: the compiler says only what follows from the property's type.
final class Librarian: Manager {
    struct Wires: Wiring {  // error: type 'Librarian.Wires' does not conform to protocol 'Decodable'
        let loans: Loans
    }
    init(_ context: Context) {}
}
