public import Backplane
import ParityContracts

/// The plugin with the callers of another library, in its own library.
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

/// A manager that catches the typed errors of the other library, and rethrows them.
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

/// A manager that forwards calls through the connected wire, of the current or an earlier version of the contract.
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

/// A manager that forwards every call to another library.
final class ValuesRelay: Manager {
    typealias Provides = Values
    struct Wires: Wiring {
        let next: Wire<Values>
    }
    private let values: Wire<Values>

    init(_ context: Context) {
        values = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.full) { relay, value, call in try await relay.values.full(value, call) }
        table.sync(\.fullNow) { relay, value, call in try relay.values.fullNow(value, call) }
        table.async(\.nothing) { relay, value, call in try await relay.values.nothing(value, call) }
        table.async(\.perhapsNothing) { relay, value, call in try await relay.values.perhapsNothing(value, call) }
        table.async(\.optional) { relay, value, call in try await relay.values.optional(value, call) }
        table.async(\.nested) { relay, value, call in try await relay.values.nested(value, call) }
        table.async(\.amended) { relay, volumes, call in try await relay.values.amended(volumes, call) }
        table.sync(\.amendedNow) { relay, volumes, call in try relay.values.amendedNow(volumes, call) }
    }
}

/// A manager that reads the streams of another library, and forwards their elements.
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

/// A reader compiled with version 1.2 of the ledger, which reports missing methods as text.
final class LedgerReader: Manager {
    typealias Provides = LedgerReading
    struct Wires: Wiring {
        let ledger: Wire<EarlierLedger>
    }
    private let ledger: Wire<EarlierLedger>

    init(_ context: Context) {
        ledger = context.wires.ledger
    }

    static func methods(_ table: inout Methods) {
        table.async(\.find) { reader, text, call in
            try await reader.ledger.find(EarlierLedger.Query(text: text), call).map(\.text)
        }
        table.sync(\.count) { reader, text, call in try reader.ledger.count(EarlierLedger.Query(text: text), call) }
        table.async(\.given) { reader, text, call in try await reader.ledger.given(text, call) }
    }
}

/// A reader compiled with the same version of the contract, but with a different input.
final class EqualVersionReader: Manager {
    typealias Provides = LedgerReading
    struct Wires: Wiring {
        let ledger: Wire<OtherLedger>
    }
    private let ledger: Wire<OtherLedger>

    init(_ context: Context) {
        ledger = context.wires.ledger
    }

    static func methods(_ table: inout Methods) {
        table.async(\.find) { reader, text, call in
            try await reader.ledger.find(OtherLedger.Query(text: text, limit: 3, note: ""), call).map {
                "\($0.text) \($0.wasLimited)"
            }
        }
        table.sync(\.count) { reader, text, call in
            try reader.ledger.count(OtherLedger.Query(text: text, limit: 3, note: ""), call)
        }
        table.async(\.given) { _, text, _ in text }
    }
}
