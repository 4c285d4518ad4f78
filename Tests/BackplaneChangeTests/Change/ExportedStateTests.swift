import Backplane
import Synchronization
import Testing

@testable import BackplaneHost

/// The comparison of state that was imported with what is exported again.
@Suite(.timeLimit(.minutes(5)))
struct ExportedStateTests {
    private struct Counting: Contract {
        static let name = "WordCounting"
        static let version: Version = "1.0.0"
        let words = SyncMethod<Nothing, Int>()
    }

    private struct Words: Codable, Sendable {
        var counts = Dictionary(uniqueKeysWithValues: (0..<200).map { ("word \($0)", $0) })
    }

    /// State with a dictionary, which has no order.
    private final class WordCounter: Manager, StatefulComponent {
        typealias Provides = Counting
        private let state = Mutex(Words())
        init(_ context: Context) {}
        func exportState() -> Words { state.withLock { $0 } }
        func importState(_ words: Words) {
            state.withLock { state in
                // Another capacity is another order.
                state.counts = [:]
                state.counts.reserveCapacity(Int.random(in: 500...5_000))
                state.counts.merge(words.counts) { first, _ in first }
            }
        }
        static func methods(_ table: inout Methods) {
            table.sync(\.words) { counter, _, _ in counter.state.withLock { $0.counts.count } }
        }
    }

    /// State with a set, which JSON has as an array.
    private final class WordList: Manager, StatefulComponent {
        typealias Provides = Counting
        private let state = Mutex(Set((0..<200).map { "word \($0)" }))
        init(_ context: Context) {}
        func exportState() -> Set<String> { state.withLock { $0 } }
        func importState(_ words: Set<String>) {
            state.withLock { state in
                state = Set(minimumCapacity: 5_000)
                state.formUnion(words)
            }
        }
        static func methods(_ table: inout Methods) {
            table.sync(\.words) { list, _, _ in list.state.withLock { $0.count } }
        }
    }

    /// State of which an import forgets a part.
    private final class ForgetfulList: Manager, StatefulComponent {
        typealias Provides = Counting
        private let state = Mutex(["first", "second"])
        init(_ context: Context) {}
        func exportState() -> [String] { state.withLock { $0 } }
        func importState(_ words: [String]) { state.withLock { $0 = Array(words.dropLast()) } }
        static func methods(_ table: inout Methods) {
            table.sync(\.words) { list, _, _ in list.state.withLock { $0.count } }
        }
    }

    /// State that JSON cannot express.
    private final class Thermometer: Manager, StatefulComponent {
        typealias Provides = Counting
        private let degrees = Mutex([Double.infinity])
        init(_ context: Context) {}
        func exportState() -> [Double] { degrees.withLock { $0 } }
        func importState(_ degrees: [Double]) { self.degrees.withLock { $0 = degrees + [1] } }
        static func methods(_ table: inout Methods) {
            table.sync(\.words) { meter, _, _ in meter.degrees.withLock { $0.count } }
        }
    }

    private func swap<M: Manager>(_ type: M.Type) async throws -> (report: ChangeReport, words: Int) {
        func edition(_ version: Version) -> LinkedPlugin {
            LinkedPlugin(id: "org.backplane.tests.words", version: version) { $0.add(M.self) }
        }
        let counters = try CounterHost(
            [], others: ["Words": ["className": .string(M.className)]], linked: [edition("1.0.0")]
        ) { $0.checksState = true }
        let words: Remote<Counting> = try await counters.host.manager("Words")
        let report = try await counters.swap(linked: [edition("2.0.0")]), count = try words.words()
        await counters.host.stop()
        return (report, count)
    }

    @Test func `a dictionary is exported in one order`() async throws {
        let (report, words) = try await swap(WordCounter.self)
        #expect(report.outcome == .changed && report.warnings == [])
        #expect(report.components.first?.state?.lane == "native" && report.components.first?.state?.remark == nil)
        #expect(words == 200)
    }

    @Test func `another order of an array is a remark and no warning`() async throws {
        let (report, words) = try await swap(WordList.self)
        #expect(report.outcome == .changed && report.warnings == [])
        #expect(report.components.first?.state?.remark?.contains("the order of its arrays differs") == true)
        #expect(words == 200)
    }

    @Test func `state that an import loses is a warning`() async throws {
        let (report, words) = try await swap(ForgetfulList.self)
        #expect(report.outcome == .changed && report.warnings.count == 1 && words == 1)
        #expect(report.warnings.first?.contains("the state of Words is not stable") == true, "\(report.warnings)")
        #expect(report.components.first?.state?.remark == nil)
    }

    @Test func `state that crosses natively and could not as JSON is a warning`() async throws {
        let (report, words) = try await swap(Thermometer.self)
        #expect(report.outcome == .changed && report.warnings.count == 1 && words == 2)
        #expect(
            report.warnings.first?.hasPrefix(
                "the state of Words crosses natively, but could not cross as JSON, which code of another version or layout needs: Thermometer: its state"
            ) == true, "\(report.warnings)")
    }
}
