import Backplane
import ParityContracts

/// Was compiled with the ledger of 1.2, and answers as that is: what it cannot find it says in words.
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

/// The same version of the contract, with another input.
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
