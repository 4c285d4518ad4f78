import Backplane
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// Values that are exported natively are freed once, however the swap ends.
@Suite(.timeLimit(.minutes(5)))
struct StateReleaseTests {
    /// The values of one test, which are found by the key in a configuration.
    private final class ExportedValues: Sendable {
        private static let all = Mutex<[String: ExportedValues]>([:])
        let key = UUID().uuidString
        private let counts = Mutex((made: 0, freed: 0))
        /// What an export and an import do first.
        let exporting = Mutex<@Sendable () async throws -> Void>({})
        let importing = Mutex<@Sendable () async throws -> Void>({})

        init() {
            let own = self
            Self.all.withLock { $0[key] = own }
        }

        static func of(_ key: String) -> ExportedValues { all.withLock { $0[key] } ?? ExportedValues() }

        var made: Int { counts.withLock(\.made) }
        var freed: Int { counts.withLock(\.freed) }

        /// A value that counts when its last copy is gone.
        func make() -> Data {
            counts.withLock { $0.made += 1 }
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 16)
            memset(bytes, 7, 4_096)
            return Data(
                bytesNoCopy: bytes, count: 4_096,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    self.counts.withLock { $0.freed += 1 }
                })
        }
    }

    private struct Summing: Contract {
        static let version: Version = "1.0.0"
        let sum = SyncMethod<Nothing, Int>()
    }

    private final class SummingManager: Manager, StatefulComponent {
        typealias Provides = Summing
        struct Configuration: Decodable, Sendable { var key: String }
        struct State: Codable { var data: Data }
        private let values: ExportedValues
        private let sum = Mutex(0)

        init(_ context: Context) { values = .of(context.configuration.key) }

        func exportState() async throws -> State {
            try await values.exporting.withLock(\.self)()
            return State(data: values.make())
        }
        func importState(_ state: State) async throws {
            try await values.importing.withLock(\.self)()
            sum.withLock { $0 = state.data.reduce(0) { $0 + Int($1) } }
        }
        func health() throws { if sum.withLock({ $0 > 0 }) { throw BackplaneError(.componentFailed, "ill") } }
        static func methods(_ table: inout Methods) {
            table.sync(\.sum) { summing, _, _ in summing.sum.withLock(\.self) }
        }
    }

    private let values = ExportedValues()

    private static func edition(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.summing", version: version) { $0.add(SummingManager.self) }
    }

    /// Runs a host of a summing for as long as `body` does.
    private func with(
        fault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)? = nil,
        _ body: (CounterHost, Remote<Summing>) async throws -> Void
    ) async throws {
        let counters = try CounterHost(
            [],
            others: ["SummingManager": ["className": "SummingManager", "configuration": ["key": .string(values.key)]]],
            linked: [Self.edition("1.0.0")]
        ) {
            $0.checksState = false
            $0.swapFault = fault
        }
        let summing: Remote<Summing> = try await counters.host.manager("SummingManager")
        #expect(try summing.sum() == 0)
        try await body(counters, summing)
        await counters.host.stop()
        await eventually { values.freed == values.made }
    }

    private func swap(_ counters: CounterHost, _ options: SwapOptions = .patient) async throws(BackplaneError)
        -> SwapReport
    {
        try await counters.swap(linked: [Self.edition("2.0.0")], options)
    }

    @Test func `a swap that succeeds`() async throws {
        try await with { counters, summing in
            let report = try await swap(counters)
            #expect(report.components.first?.state?.lane == "native")
            #expect(try summing.sum() == 7 * 4_096)
            await eventually { values.made == 1 && values.freed == 1 }
        }
    }

    @Test(arguments: [SwapAction.import(0), .flip, .activate(0)])
    func `a swap that fails between the export and the end`(action: SwapAction) async throws {
        let fault: @Sendable (SwapAction) throws(BackplaneError) -> Void = { begun throws(BackplaneError) in
            if begun == action { throw BackplaneError(.componentFailed, "on purpose") }
        }
        try await with(fault: fault) { counters, summing in
            for round in 1...20 {
                let failure = await error { try await swap(counters) }
                #expect(failure?.code == .swapFailed)
                await eventually { values.made == round && values.freed == round }
            }
            let sum = try summing.sum()
            #expect(sum == 0, "the old instance serves")
        }
    }

    @Test func `an import that throws`() async throws {
        values.importing.withLock { $0 = { throw BackplaneError(.componentFailed, "not today") } }
        try await with { counters, summing in
            let failure = await error { try await swap(counters) }
            #expect(failure?.message.contains("import: not today") == true)
            await eventually { values.made == 1 && values.freed == 1 }
        }
    }

    @Test func `an import that outlasts its limit`() async throws {
        let hanging = Latch()
        values.importing.withLock { $0 = { await hanging.pass() } }
        try await with { counters, summing in
            let failure = await error {
                try await counters.test.expiring(.seconds(10), once: { hanging.arrived == 1 }) {
                    try await swap(counters, SwapOptions(stepLimit: .seconds(10)))
                }
            }
            #expect(failure?.message.contains("took longer than 10.0 seconds to import the state") == true)
            #expect(values.made == 1 && values.freed == 0, "the import still has its copy")
            hanging.open()
            await eventually { values.freed == 1 }
        }
    }

    @Test func `an export that comes too late`() async throws {
        let hanging = Latch()
        values.exporting.withLock { $0 = { await hanging.pass() } }
        try await with { counters, summing in
            let failure = await error {
                try await counters.test.expiring(.seconds(10), once: { hanging.arrived == 1 }) {
                    try await swap(counters, SwapOptions(stepLimit: .seconds(10)))
                }
            }
            #expect(failure?.message.contains("took longer than 10.0 seconds to export its state") == true)
            #expect(values.made == 0)
            hanging.open()
            await eventually { values.made == 1 && values.freed == 1 }
        }
    }

    @Test func `a rollback, which hands the newer state back natively`() async throws {
        try await with { counters, summing in
            let probation = Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600))
            let report = try await swap(counters, SwapOptions(probation: probation))
            #expect(report.outcome == .rolledBack && report.warnings == [])
            #expect(report.failure?.message.contains("ill") == true)
            #expect(try summing.sum() == 7 * 4_096, "of an instance of the old code that took the state back")
            await eventually { values.made == 2 && values.freed == 2 }
        }
    }
}
