import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Deadlines that pass while a call is being handed over.
@Suite(.timeLimit(.minutes(10)))
struct EarlyDeadlineTests {
    private struct Sleeping: Contract {
        static let version: Version = "1.0.0"
        let sleep = AsyncMethod<Nothing, Nothing>()
    }

    private final class SleepingManager: Manager {
        typealias Provides = Sleeping
        static let className = "SleepingManager"
        static let asleep = Atomic(0)

        init(_ context: Context) {}

        static func methods(_ table: inout Methods) {
            table.async(\.sleep) { _, _, _ in
                asleep.wrappingAdd(1, ordering: .relaxed)
                defer { asleep.wrappingSubtract(1, ordering: .relaxed) }
                try await Task.sleep(for: .seconds(3_600))
                return Nothing()
            }
        }
    }

    private struct SleepingPlugin: Plugin {
        static let id = "org.backplane.tests.sleeping"
        static let version: Version = "1.0.0"
        static func register(in registrar: inout Registrar) { registrar.add(SleepingManager.self) }
    }

    @Test func `whatever began is cancelled, however close its deadline was`() async throws {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"Sleeping": {"className": "SleepingManager"}}}"#,
            plugins: [SleepingPlugin.self], lanes: .encoded)
        let remote: Remote<Sleeping> = try await test.host.manager("Sleeping")
        let callers = (0..<100).map { caller in
            Task { @concurrent in
                for round in 0..<100 {
                    let call = test.host.begin(within: .seconds(1 + (round * 7 + caller * 13) % 5))
                    #expect(await error { try await remote.sleep(call) }?.code == .callDeadline)
                }
            }
        }
        let time = Task { @concurrent in
            while !Task.isCancelled {
                test.clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        for caller in callers { await caller.value }
        time.cancel()
        await eventually { SleepingManager.asleep.load(ordering: .relaxed) == 0 }
        await test.host.stop()
    }
}
