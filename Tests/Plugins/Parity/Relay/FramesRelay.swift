import Backplane
import ParityContracts

/// Calls on through the wire that the manifest fills: of the same version of the contract, or of an earlier one.
final class FramesRelay: Manager {
    typealias Provides = Frames
    struct Wires: Wiring {
        let next: Wire<Frames>?
        let earlier: Wire<EarlierFrames>?
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.frame) { relay, _, call in
            if let next = relay.wires.next { return try await next.frame(call) }
            return try await relay.wires.earlier?.frame(call) ?? Frame(call)
        }
        table.sync(\.frameNow) { relay, _, call in
            if let next = relay.wires.next { return try next.frameNow(call) }
            return try relay.wires.earlier?.frameNow(call) ?? Frame(call)
        }
    }
}
