// swift-format-ignore-file

import Backplane
import BackplaneNetwork
import BackplaneOperations
import BackplaneStorage

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
}

final class Librarian: Manager {
    init(_ context: Context) {
        _ = context.folder  // error: 'folder' is unavailable: a manager has no folder: call its data access controller through a wire
        _ = context.http  // error: 'http' is unavailable: a manager cannot use HTTP: call its communication controller through a wire
        _ = context.store  // error: 'store' is unavailable: a manager cannot use the store: call its data access controller through a wire
    }
}

final class Shelf: DataAccessController {
    init(_ context: Context) async throws {
        _ = context.http  // error: 'http' is unavailable: a data access controller cannot use HTTP: only its manager's communication controller can
        _ = context.operations  // error: value of type 'DataAccessContext<Shelf>' has no member 'operations'
        _ = context.wires  // error: 'wires' is unavailable: a data access controller cannot call components: its manager calls them
        _ = try await context.manager("Loans", as: Loans.self)  // error: 'manager(_:as:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
        _ = try await context.resolve(Loans.self)  // error: 'resolve(_:where:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
    }
}

final class WiredShelf: DataAccessController {  // error: type 'WiredShelf' does not conform to protocol 'DataAccessController' // error: 'DataAccessController' requires the types 'WiredShelf.Wires' and 'NoWires' be equivalent
    struct Wires: Wiring {
        let loans: Wire<Loans>
    }
    init(_ context: Context) {}
}

final class Catalogue: CommunicationController {
    init(_ context: Context) async throws {
        _ = context.store  // error: 'store' is unavailable: a component that uses the network cannot use the store: only its manager's data access controller can
        _ = try await context.manager("Loans", as: Loans.self)  // error: 'manager(_:as:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
        _ = try await context.resolve(Loans.self)  // error: 'resolve(_:where:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
    }
}

final class BooksAPI: NetworkService {
    init(_ context: Context) async throws {
        _ = context.store  // error: 'store' is unavailable: a component that uses the network cannot use the store: only its manager's data access controller can
        _ = context.wires  // error: 'wires' is unavailable: a network service cannot call components: its communication controller calls them
        _ = try await context.manager("Loans", as: Loans.self)  // error: 'manager(_:as:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
        _ = try await context.resolve(Loans.self)  // error: 'resolve(_:where:for:)' is unavailable: only a manager can look up managers: let its manager call the other one
    }
}
