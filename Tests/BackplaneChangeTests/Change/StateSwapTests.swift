import Backplane
import BackplaneTestKit
import Foundation
import ParityContracts
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Which version of a state crosses, and when none can.
struct StateTransferTests {
    private func state(
        _ schema: String = "sum", _ version: UInt32 = 1, accepts: ClosedRange<UInt32>? = nil, writes: UInt32? = nil
    ) -> StateDescription {
        StateDescription(
            schema: schema, version: version, accepts: accepts ?? version...version,
            writes: (writes ?? version)...version)
    }

    private func reason(_ transfer: StateTransfer) -> String? {
        if case .impossible(let reason, _) = transfer { reason } else { nil }
    }

    @Test func `without state before there is nothing to carry`() {
        #expect(StateTransfer(from: nil, to: nil) == .none)
        #expect(StateTransfer(from: nil, to: state()) == .none)
        #expect(!StateTransfer(from: nil, to: state()).isCarried)
    }

    @Test func `every pair of small ranges is carried exactly when they meet`() {
        for version in UInt32(0)...4 {
            for writes in 0...version {
                for low in UInt32(0)...4 {
                    for high in low...4 {
                        let old = state("sum", version, writes: writes), new = state("sum", high, accepts: low...high)
                        let common = Set(writes...version).intersection(low...high)
                        let transfer = StateTransfer(from: old, to: new)
                        #expect(transfer.isCarried == !common.isEmpty, "\(writes)...\(version) to \(low)...\(high)")
                        if case .carried(_, let version, _) = transfer { #expect(version == common.max()) }
                    }
                }
            }
        }
    }

    @Test func `what cannot be carried says why`() {
        #expect(reason(StateTransfer(from: state(), to: nil)) == "the new code has no state")
        #expect(
            reason(StateTransfer(from: state(), to: state("words")))
                == "its schema is `sum`, but the new code's schema is `words`")
        #expect(
            reason(StateTransfer(from: state("sum", 4, writes: 3), to: state("sum", 2)))
                == "`sum` is written in versions 3 to 4, but the new code reads version 2")
        #expect(
            reason(StateTransfer(from: state(), to: state("sum", 3, accepts: 2...3)))
                == "`sum` is written in version 1, but the new code reads versions 2 to 3")
    }

    @Test func `reports describe what happens to it`() {
        let old = state(), new = state("sum", 2, accepts: 1...2)
        #expect(
            StateTransfer(from: old, to: new).change(to: new)
                == StateChange(schema: "sum", fromVersion: 1, toVersion: 2))
        #expect(
            StateTransfer(from: nil, to: new).change(to: new)
                == StateChange(schema: "sum", fromVersion: nil, toVersion: 2))
        #expect(StateTransfer(from: nil, to: nil).change(to: nil) == nil)
        #expect(StateTransfer(from: old, to: nil).change(to: nil)?.lost == "the new code has no state")
    }
}

/// The comparison of state that was imported with what is exported again.
@Suite(.timeLimit(.minutes(5)))
struct ExportedStateTests {
    private struct Counting: Contract {
        static let name = "WordCounting"
        static let version: Version = "1.0.0"
        let words = SyncMethod<Nothing, Int>()
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

/// State that crosses from library to library as the Swift value itself, beside the same state as JSON.
@Suite(.timeLimit(.minutes(5)))
struct NativeStateTests {
    /// Runs a host of the library with every kind of value, of which each copy is another build.
    private func with(
        lanes: LaneRule = .fastest,
        _ body: (
            TestHost, Remote<FullStateKeeping>, (ChangeOptions) async throws -> ChangeReport
        ) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        var library = try TurnstileFixture.built("_Parity")
        try folder.write(library, as: "libFullState.so")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "FullState"}],
             "managers": {"FullState": {"className": "FullStateManager"}}}
            """#,
            linked: [], in: folder, lanes: lanes
        ) { $0.checksState = false }
        do {
            let remote: Remote<FullStateKeeping> = try await test.host.manager("FullState")
            try await body(test, remote) { options in
                library.append(0)
                return try await test.host.swap(library: try folder.write(library, as: "libFullState.so"), options)
            }
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    @Test(arguments: [false, true])
    func `every kind of value is the same after the swap, whichever way it went`(isEncoded: Bool) async throws {
        try await with { test, remote, swap in
            let full = FullState.sample
            _ = try await remote.keep(full)
            for _ in 0..<3 {
                let report = try await swap(ChangeOptions(stepLimit: .seconds(60), encodesState: isEncoded))
                let state = try #require(report.components.first?.state)
                #expect(state.lane == (isEncoded ? "encoded" : "native"))
                #expect(state.reason == (isEncoded ? "the swap is set to encode state" : nil))
                #expect((state.bytes > 0) == isEncoded && state.lost == nil)
                #expect(report.warnings == [])
                #expect(try await remote.kept() == full)
            }
        }
    }

    @Test func `the new code changes what it took over, and the old values are left as they were`() async throws {
        try await with { test, remote, swap in
            var full = FullState.sample
            _ = try await remote.keep(full)
            for number in 0..<5 {
                #expect(try await swap(ChangeOptions(stepLimit: .seconds(60))).outcome == .changed)
                let volume = Volume(1_000 + number, "Added \(number)")
                full.byName[volume.title] = volume
                #expect(try await remote.add(volume) == full.byName.count)
            }
            #expect(try await remote.kept() == full)
        }
    }
}
