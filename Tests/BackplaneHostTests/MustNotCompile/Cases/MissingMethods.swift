// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Int>()
    let count = SyncMethod<Nothing, Int>()
    let returns = StreamMethod<Nothing, Int>()
}

/// A component that provides a contract enters its methods.
final class Librarian: Manager {  // error: type 'Librarian' does not conform to protocol 'Component'
    typealias Provides = Loans
    init(_ context: Context) {}
}
