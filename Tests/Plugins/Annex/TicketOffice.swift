import Backplane
import Foundation
import TurnstileContracts

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
