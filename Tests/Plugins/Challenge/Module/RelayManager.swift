public import Backplane

/// Passes on to another manager, to see what a call is when it arrives.
public struct Relay: Contract {
    public static let version: Version = "1.0.0"
    public let path = AsyncMethod<Nothing, [UInt16]>()
    public let timeLeft = AsyncMethod<Nothing, Double?>()
    public let fail = AsyncMethod<String, Nothing>()
    public let wait = AsyncMethod<Double, String>()
    public init() {}
}

final class RelayManager: Manager {
    typealias Provides = Relay
    struct Wires: Wiring {
        let trials: Wire<Trials>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.path) { manager, _, call in try manager.wires.trials.path(call) }
        table.async(\.timeLeft) { manager, _, call in try manager.wires.trials.timeLeft(call) }
        table.async(\.fail) { manager, text, call in try await manager.wires.trials.fail(text, call) }
        table.async(\.wait) { manager, seconds, call in try await manager.wires.trials.wait(seconds, call) }
    }
}
