import Backplane
import ParityContracts

final class FailuresRelay: Manager {
    typealias Provides = Failures
    struct Wires: Wiring {
        let next: Wire<Failures>
    }
    private let next: Wire<Failures>

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.fail) { relay, kind, call in try await relay.next.fail(kind, call) }
        table.sync(\.failNow) { relay, kind, call in try relay.next.failNow(kind, call) }
        table.async(\.failDeep) { relay, levels, call in try await relay.next.failDeep(levels, call) }
    }
}
