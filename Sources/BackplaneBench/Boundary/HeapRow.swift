/// How often one call asks for heap memory.
///
/// The allocator is counted in a child of this process, so that nothing else here is slowed down by it. The child is given
/// this very row, has a counter, and counts.
enum HeapRow {
    private static let calls = 1_000

    static func make(_ name: String, in suite: String, target: Target? = .median(atMost: 0), _ body: @escaping @Sendable (Int) async throws -> Int) -> Row {
        guard let counter = HeapCounter() else {
            return Row(name: name, unit: .allocations, target: target, limit: 1) { _ in
                try await HeapCounter.medianInChild(of: name, in: suite, calls: calls)
            }
        }
        return Row(name: name, unit: .allocations, target: target) { count in
            _ = try await body(10)                  // what is made once has been made
            let before = counter.allocations
            let result = try await body(count)
            let allocations = counter.allocations - before
            guard result == count else { throw Row.Miscount(row: name, calls: count, result: result) }
            // Another thread may allocate meanwhile, now and then; a call that does so does it every time.
            return (Double(allocations) / Double(count) * 10).rounded() / 10
        }
    }
}
