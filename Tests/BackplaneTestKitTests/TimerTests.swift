import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import Testing

/// Timers of components under a test's clock.
@Suite(.timeLimit(.minutes(2)))
struct TimerTests {
    @Test func `timers fire while the clock runs, and each body has ended before the next time`() async throws {
        try await TestHost.run("PeriodicManager", plugins: [PeriodicPlugin.self]) { host in
            try await host.host.start()
            try await host.clock.run(for: .seconds(29))
            #expect(host.log.messages(from: "PeriodicManager") == [])
            try await host.clock.run(for: .seconds(61))
            #expect(host.log.messages(from: "PeriodicManager") == ["repeated", "repeated", "once", "repeated"])
            #expect(host.clock.now.offset == .seconds(90))
        }
    }

    @Test func `a clock that is only advanced begins what is due`() async throws {
        let clock = TestClock()
        try await TestHost.run("PeriodicManager", plugins: [PeriodicPlugin.self], clock: clock) { host in
            try await host.host.start()
            clock.advance(by: .seconds(65))
            _ = try await host.log.record("once")
            try await clock.run(for: .zero)
            let messages = host.log.messages(from: "PeriodicManager")
            #expect(messages.last == "once" || messages.contains("once"))
            #expect(
                (1...2).contains(messages.count { $0 == "repeated" }), "a time that passes during a body is skipped")
        }
    }
}

private struct PeriodicPlugin: Plugin {
    static let id = "org.example.periodic"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(PeriodicManager.self) }
}

private final class PeriodicManager: Manager {
    struct Configuration: Decodable, Sendable {
        var fails: String?
    }
    struct Failure: Error {}

    init(_ context: Context) throws {
        let fails = context.configuration.fails != nil
        try context.tasks.every(.seconds(30), jitter: .seconds(5), name: "repeat") { [log = context.log] _ in
            if fails { throw Failure() }
            await Task.yield()
            log.info("repeated")
        }
        try context.tasks.after(.seconds(65)) { [log = context.log] _ in log.info("once") }
    }
}
