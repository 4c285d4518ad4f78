import Backplane
import ParityContracts

final class LedgerManager: Manager {
    typealias Provides = Ledger

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.find) { _, query, _ in
            [LedgerEntry(text: query.text, wasLimited: query.limit != nil, pages: [1, 2])]
        }
        table.sync(\.count) { _, query, _ in query.text.count }
        table.async(\.total) { _, _, _ in 1 }
    }
}
