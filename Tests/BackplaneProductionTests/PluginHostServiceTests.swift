import Backplane
import BackplaneHost
import BackplaneServiceLifecycle
import Logging
import ServiceLifecycle
import Synchronization
import Testing

/// A host in a group of swift-service-lifecycle.
@Suite(.timeLimit(.minutes(1)))
struct PluginHostServiceTests {
    /// What happened, in order.
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private struct Increment: Contract {
        static let version: Version = "1.0.0"
        let open = AsyncMethod<Int, Int>()
    }

    private final class IncrementManager: Manager {
        typealias Provides = Increment
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) { table.async(\.open) { _, number, _ in number + 1 } }
    }

    private struct IncrementPlugin: Plugin {
        static let id = "org.backplane.tests.increment"
        static let version: Version = "1.0.0"
        static func register(in registrar: inout Registrar) { registrar.add(IncrementManager.self) }
    }

    /// A service that calls a manager once it is ready, and again when it is asked to stop.
    private struct Caller: Service {
        let plugins: PluginHostService, journal: Journal

        func run() async throws {
            try await plugins.ready()
            let increment = try await plugins.host.manager("Increment", as: Increment.self)
            journal.note("first \(try await increment.open(1))")
            try? await gracefulShutdown()
            journal.note("last \(try await increment.open(2))")
        }
    }

    private func host(_ className: String) -> PluginHost {
        PluginHost(
            manifest: Manifest(managers: ["Increment": ManagerDefinition(className: className)]),
            plugins: [IncrementPlugin.self])
    }

    @Test func `other services call managers when they are ready, and until they have stopped themselves`() async throws
    {
        let journal = Journal(), plugins = PluginHostService(host("IncrementManager"))
        let caller = Caller(plugins: plugins, journal: journal)
        let group = ServiceGroup(services: [plugins, caller], logger: Logger(label: "test"))
        let run = Task { try await group.run() }
        try await plugins.ready()
        await group.triggerGracefulShutdown()
        try await run.value
        #expect(journal.all == ["first 2", "last 3"])
        #expect(await plugins.host.managers.allSatisfy { $0.state == .stopped })
    }

    @Test func `a host that does not start fails the group, and whoever waits for it`() async throws {
        let plugins = PluginHostService(host("WindowManager"))
        let group = ServiceGroup(services: [plugins], logger: Logger(label: "test"))
        let run = Task { try await group.run() }
        await #expect(throws: BackplaneError.self) { try await plugins.ready() }
        await #expect(throws: (any Error).self) { try await run.value }
    }
}
