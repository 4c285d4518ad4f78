public import Backplane
import ParityContracts

/// Who calls another library, in a library of its own.
public struct RelayPlugin: Plugin {
    public static let id = "org.backplane.tests.parity-relay"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(ValuesRelay.self)
        registrar.add(TaskContextRelay.self)
        registrar.add(FailuresRelay.self)
        registrar.add(LoansRelay.self)
        registrar.add(FramesRelay.self)
        registrar.add(SequencesRelay.self)
        registrar.add(LedgerReader.self)
        registrar.add(EqualVersionReader.self)
    }
}

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

/// Catches the errors of the other library with their type, and throws them on.
final class LoansRelay: Manager {
    typealias Provides = Loans
    struct Wires: Wiring {
        let next: Wire<Loans>
    }
    private let next: Wire<Loans>

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.borrow) { relay, input, call in
            do { return try await relay.next.borrow(input, call) } catch let error as LoanError { throw error }
        }
        table.sync(\.borrowNow) { relay, input, call in
            do { return try relay.next.borrowNow(input, call) } catch let error as LoanError { throw error }
        }
        table.stream(\.titles) { relay, input, elements, call in
            do {
                for try await title in relay.next.titles(input, call) { try await elements.send(title) }
            } catch let error as LoanError {
                throw error
            }
        }
        table.async(\.fail) { relay, kind, call in try await relay.next.fail(kind, call) }
    }
}

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

final class TaskContextRelay: Manager {
    typealias Provides = TaskContext
    struct Wires: Wiring {
        let next: Wire<TaskContext>
    }
    private let next: Wire<TaskContext>

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.priority) { relay, _, call in try await relay.next.priority(call) }
    }
}
