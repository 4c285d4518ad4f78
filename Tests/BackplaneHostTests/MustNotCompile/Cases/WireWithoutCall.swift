// swift-format-ignore-file

import Backplane

struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Nothing>()
    let renew = AsyncMethod<Nothing, Nothing>()
    let count = SyncMethod<Nothing, Int>()
    let limit = SyncMethod<Int, Int>()
    let all = StreamMethod<Nothing, Int>()
    let since = StreamMethod<Int, Int>()
}

/// A call that is served is passed on: without its frame neither its deadline nor its path would be known.
final class Librarian: Manager {
    struct Wires: Wiring {
        let loans: Wire<Loans>
    }
    init(_ context: Context) async throws {
        _ = try await context.wires.loans.lend(3)  // error: 'callAsFunction' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
        _ = try await context.wires.loans.renew()  // error: 'callAsFunction()' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
        _ = try context.wires.loans.count()  // error: 'callAsFunction()' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
        _ = try context.wires.loans.limit(3)  // error: 'callAsFunction' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
        for try await loan in context.wires.loans.all() { print(loan) }  // error: 'callAsFunction()' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
        for try await loan in context.wires.loans.since(3) { print(loan) }  // error: 'callAsFunction' is unavailable: pass the current call as last argument, or begin one with `context.begin()`
    }
}
