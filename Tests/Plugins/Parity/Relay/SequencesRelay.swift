import Backplane
import ParityContracts

/// Reads every stream of another library, and gives its elements.
final class SequencesRelay: Manager {
    typealias Provides = Sequences
    struct Wires: Wiring {
        let next: Wire<Sequences>
    }
    private let next: Wire<Sequences>

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.stream(\.count) { relay, input, elements, call in
            try await elements.send(contentsOf: relay.next.count(input, call))
        }
        table.stream(\.volumes) { relay, input, elements, call in
            try await elements.send(contentsOf: relay.next.volumes(input, call))
        }
        table.stream(\.fail) { relay, input, elements, call in
            try await elements.send(contentsOf: relay.next.fail(input, call))
        }
        table.stream(\.endless) { relay, _, elements, call in
            try await elements.send(contentsOf: relay.next.endless(call))
        }
        table.stream(\.silent) { relay, _, elements, call in
            try await elements.send(contentsOf: relay.next.silent(call))
        }
        table.stream(\.stubborn) { relay, _, elements, call in
            try await elements.send(contentsOf: relay.next.stubborn(call))
        }
        table.stream(\.unusual) { relay, _, elements, call in
            try await elements.send(contentsOf: relay.next.unusual(call))
        }
        table.stream(\.frame) { relay, _, elements, call in
            try await elements.send(contentsOf: relay.next.frame(call))
        }
    }
}
