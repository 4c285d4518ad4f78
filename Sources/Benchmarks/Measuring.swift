import BackplaneTools

/// The measurement of rows in rounds: each round measures every row once, under the same conditions as its baseline.
struct Measuring {
    var effort: Effort
    var progress: ProgressLine

    /// Measures the rows and returns their samples by name.
    ///
    /// A cancelled measurement ends before the next row. It runs on the global executor, as a server's code does, and
    /// never on the main actor.
    @concurrent
    func run(_ rows: [Row]) async throws -> [String: Sample] {
        defer { progress.clear() }
        var counts: [Int] = []
        for row in rows {
            progress.show("preparing: \(row.name)")
            try Task.checkCancellation()
            counts.append(try await count(of: row))
        }
        var figures: [String: [Double]] = [:]
        for round in 1...effort.rounds {
            for (row, count) in zip(rows, counts) where round <= row.rounds {
                progress.show("round \(round) of \(effort.rounds): \(row.name)")
                try Task.checkCancellation()
                figures[row.name, default: []].append(try await row.measure(count))
            }
        }
        return figures.mapValues(Sample.init)
    }

    /// Returns the number of iterations in a round; determining it also warms up the row.
    private func count(of row: Row) async throws -> Int {
        switch effort.count {
        case .exactly(let count):
            return min(count, row.limit)
        case .lasting(let duration):
            if let count = row.count {
                _ = try await row.measure(count)
                return count
            }
            var count = 1
            while true {
                let start = ContinuousClock.now
                _ = try await row.measure(count)
                let time = ContinuousClock.now - start
                if count >= row.limit { return row.limit }
                if time * 8 >= duration { return max(1, min(Int(Double(count) * (duration / time)), row.limit)) }
                count = min(count * 4, row.limit)
            }
        }
    }
}
