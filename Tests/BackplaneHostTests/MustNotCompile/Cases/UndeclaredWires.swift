// swift-format-ignore-file

import Backplane

/// A component that uses wires declares them.
final class Librarian: Manager {
    private let context: Context
    init(_ context: Context) { self.context = context }

    func lend(_ call: Call) async throws -> Int {
        _ = try await context.wires.loans.lend(3, call)  // error: 'subscript(dynamicMember:)' is unavailable: this component declares no wires: add `struct Wires: Wiring`, with `let name: Wire<Contract>` for each
        try await context.wires.loans.renew(call)  // error: 'subscript(dynamicMember:)' is unavailable: this component declares no wires: add `struct Wires: Wiring`, with `let name: Wire<Contract>` for each
        let lent: Int = try await context.wires.loans.lend(3, call)  // error: 'subscript(dynamicMember:)' is unavailable: this component declares no wires: add `struct Wires: Wiring`, with `let name: Wire<Contract>` for each
        for try await loan in context.wires.loans.returns(Nothing(), call) { print(loan) }  // error: for-in loop requires 'UndeclaredMember' to conform to 'AsyncSequence'
        return lent
    }
    func count(_ call: Call) throws -> Int { try context.wires.loans.count(call) }  // error: 'subscript(dynamicMember:)' is unavailable: this component declares no wires: add `struct Wires: Wiring`, with `let name: Wire<Contract>` for each
}
