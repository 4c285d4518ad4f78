import BackplaneTerminal

/// Measures rows, round by round: in every round each row once, so that a row and its baseline meet the same machine.
struct Measuring {
    var effort: Effort
    var progress: ProgressLine

    /// The samples by the rows' names.
    ///
    /// Cancelled, it ends before the next row. Runs on the global executor, as a server's code does, and never on the main actor's.
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

    /// How often it is done in a round. Looking for that also warms it up.
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
