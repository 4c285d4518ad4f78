public import Backplane
import Foundation
import Synchronization
import TurnstileContracts

/// A plugin to which a turnstile's manager can move from another plugin, and which has a caller of turnstiles.
public struct AnnexPlugin: Plugin {
    public static let id = "org.backplane.benchmark-annex"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(TurnstileManager.self)
        registrar.add(BarrierManager.self)
        registrar.add(WicketManager.self)
        registrar.add(UsherManager.self)
        registrar.add(TicketStore.self)
        registrar.add(TicketArchive.self)
        registrar.add(TicketOffice.self)
    }
}

/// A data access controller that counts in a file in its folder.
final class TicketStore: DataAccessController {
    typealias Provides = Turnstile
    private let file: String

    init(_ context: Context) { file = context.folder + "/count" }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { store, _, _ in try TicketCount.next(in: store.file) }
    }
}

/// A ticket office under another class name, for swaps that rename.
final class TicketArchive: DataAccessController {
    typealias Provides = Turnstile
    private let file: String

    init(_ context: Context) { file = context.folder + "/count" }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { archive, _, _ in try TicketCount.next(in: archive.file) }
    }
}

/// A manager that returns the count of its data access controller.
final class TicketOffice: Manager {
    typealias Provides = Turnstile
    struct Wires: Wiring {
        let dataAccessController: Wire<Turnstile>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { office, caller, call in try await office.wires.dataAccessController.pass(caller, call) }
    }
}

/// A count in a file.
enum TicketCount {
    static func next(in file: String) throws -> Ticket {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? "0", count = (Int(text) ?? 0) + 1
        try "\(count)".write(toFile: file, atomically: true, encoding: .utf8)
        return Ticket(edition: 1, handovers: 0, count: count, own: count)
    }
}

/// A turnstile that answers as the edition that is currently active.
final class TurnstileManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { turnstile, caller, _ in turnstile.state.withLock { $0.pass(caller) } }
    }
}

/// A turnstile under another class name, for swaps that rename.
final class BarrierManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    static let stateSchema = StateSchema(name: "TurnstileManager")
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { barrier, caller, _ in barrier.state.withLock { $0.pass(caller) } }
    }
}

/// A turnstile with a different kind of state.
final class WicketManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { wicket, caller, _ in wicket.state.withLock { $0.pass(caller) } }
    }
}

extension TurnstileState {
    /// Counts a call as the edition that is active after a number of handovers.
    fileprivate mutating func pass(_ caller: Int) -> Ticket {
        var ticket = pass(caller, edition: 1)
        ticket.edition = 1 + ticket.handovers % 2
        return ticket
    }
}

/// A manager without state that passes a turnstile on behalf of its callers, if a turnstile is connected.
final class UsherManager: Manager {
    typealias Provides = Turnstile
    struct Wires: Wiring {
        let turnstile: Wire<Turnstile>?
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { usher, caller, call in
            // Without a turnstile, callers are not counted.
            guard let turnstile = usher.wires.turnstile else {
                return Ticket(edition: 0, handovers: 0, count: 0, own: 0)
            }
            return try await turnstile.pass(caller, call)
        }
    }
}
