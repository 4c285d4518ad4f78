// swift-format-ignore-file

import Backplane

/// A component with methods says which contract they are of.
final class Librarian: Manager {
    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.lend) { librarian, days, call in try await librarian.lend(days, call) }  // error: 'async' is unavailable: this component provides no contract: add `typealias Provides = …`
        table.async(\.renew) { librarian, _, call in 7 }  // error: 'async' is unavailable: this component provides no contract: add `typealias Provides = …`
        table.sync(\.count) { librarian, _, _ in librarian.count() }  // error: 'sync' is unavailable: this component provides no contract: add `typealias Provides = …`
        table.stream(\.all) { librarian, days, elements, _ in try await librarian.feed(days, elements) }  // error: 'stream' is unavailable: this component provides no contract: add `typealias Provides = …`
    }
    private func feed(_ days: Int, _ elements: StreamSender<Int>) async throws {}
    private func lend(_ days: Int, _ call: Call) async throws -> Int { days }
    private func count() -> Int { 3 }
}
