/// The row for the number of heap allocations of a call.
///
/// Allocations are counted in a child process, so that counting does not slow down other rows. The child measures the
/// same row, but with a counter.
enum HeapRow {
    private static let calls = 1_000

    static func make(
        _ name: String, in suite: String, target: Target? = .median(atMost: 0),
        _ body: @escaping @Sendable (Int) async throws -> Int
    ) -> Row {
        guard let counter = HeapCounter() else {
            return Row(name: name, unit: .allocations, target: target, limit: 1) { _ in
                try await HeapCounter.medianInChild(of: name, in: suite, calls: calls)
            }
        }
        return Row(name: name, unit: .allocations, target: target) { count in
            _ = try await body(10)  // one-time allocations have been made
            let before = counter.allocations
            let result = try await body(count)
            let allocations = counter.allocations - before
            guard result == count else { throw Row.Miscount(row: name, calls: count, result: result) }
            // Round to tenths, because another thread may allocate now and then, whereas a call that allocates does so
            // every time.
            return (Double(allocations) / Double(count) * 10).rounded() / 10
        }
    }
}
