import Synchronization
import Testing

@testable import BackplaneBench
@testable import BackplaneTerminal

@Suite(.timeLimit(.minutes(5)))
struct MeasuringTests {
    private final class Record: Sendable {
        let counts = Mutex<[(row: String, count: Int)]>([])

        /// A row whose figures are 1, 2, 3, …
        func row(_ name: String, limit: Int = .max) -> Row {
            Row(name: name, unit: .milliseconds, limit: limit) { count in
                self.counts.withLock { counts in
                    counts.append((name, count))
                    return Double(counts.count { $0.row == name })
                }
            }
        }
    }
    private let record = Record()

    @Test func `all rows run together in each round, with their settings`() async throws {
        let measuring = Measuring(effort: Effort(rounds: 3, count: .exactly(20)), progress: ProgressLine())
        let samples = try await measuring.run([record.row("a"), record.row("b", limit: 1)])
        let counts = record.counts.withLock(\.self)
        #expect(counts.map(\.row) == ["a", "b", "a", "b", "a", "b"])
        #expect(counts.map(\.count) == [20, 1, 20, 1, 20, 1])
        #expect(samples == ["a": Sample([1, 2, 3]), "b": Sample([1, 2, 3])])
    }

    @Test func `a row that takes long is left out of later rounds`() async throws {
        var row = record.row("a")
        row.rounds = 2
        let samples = try await Measuring(effort: Effort(rounds: 3, count: .exactly(1)), progress: ProgressLine()).run([
            row, record.row("b"),
        ])
        #expect(record.counts.withLock(\.self).map(\.row) == ["a", "b", "a", "b", "b"])
        #expect(samples["a"] == Sample([1, 2]))
    }

    @Test func `how often it takes to last so long is found out, and is the same in every round`() async throws {
        let measuring = Measuring(effort: Effort(rounds: 2, count: .lasting(.nanoseconds(1))), progress: ProgressLine())
        _ = try await measuring.run([record.row("a")])
        #expect(record.counts.withLock(\.self).map(\.count) == [1, 1, 1], "even once lasts longer")
    }

    @Test func `a row may say how often it is done, which a short run does not heed`() async throws {
        var row = record.row("a")
        row.count = 500
        _ = try await Measuring(effort: Effort(rounds: 1, count: .lasting(.nanoseconds(1))), progress: ProgressLine())
            .run([row])
        _ = try await Measuring(effort: .quick, progress: ProgressLine()).run([row])
        #expect(record.counts.withLock(\.self).map(\.count) == [500, 500, 20], "the first time warms it up")
    }

    @Test(arguments: [
        (1, [1]), (31, [31]), (33, [17, 16]),
        (1_603, Array(repeating: 101, count: 3) + Array(repeating: 100, count: 13)),
    ])
    func `a round's calls are made in parts, all of them`(count: Int, parts: [Int]) {
        #expect(Row.parts(of: count) == parts)
    }

    @Test func `what is measured must have been done`() async throws {
        let row = Row.calls("short") { count in count - 1 }
        let error = await #expect(throws: Row.Miscount.self) { _ = try await row.measure(10) }
        #expect(error?.description == "short: 10 calls counted to 9")
        let parallel = Row.scaling("parallel", callers: 3) { $0 }
        let scaling = try await parallel.measure(10)
        #expect(scaling > 0)
    }
}
