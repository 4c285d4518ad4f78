// swift-format-ignore-file

import Backplane

struct Bell: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
    let rest = AsyncMethod<Nothing, Nothing>()
    let count = SyncMethod<Nothing, Int>()
    let limit = SyncMethod<Int, Int>()
}

/// A call that is served is passed on: without its frame neither its deadline nor its path would be known.
final class Sexton: Manager {
    struct Wires: Wiring {
        let bell: Wire<Bell>
    }
    init(_ context: Context) async throws {
        _ = try await context.wires.bell.ring(3)  // error: 'callAsFunction' is unavailable: pass the current call as the last argument, or start a new one with `context.begin()`
        _ = try await context.wires.bell.rest()  // error: 'callAsFunction()' is unavailable: pass the current call as the last argument, or start a new one with `context.begin()`
        _ = try context.wires.bell.count()  // error: 'callAsFunction()' is unavailable: pass the current call as the last argument, or start a new one with `context.begin()`
        _ = try context.wires.bell.limit(3)  // error: 'callAsFunction' is unavailable: pass the current call as the last argument, or start a new one with `context.begin()`
    }
}
