import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import Testing

/// Timers of components under a test's clock.
@Suite(.timeLimit(.minutes(2)))
struct TimerTests {
    @Test func `timers fire while the clock runs, and each body has ended before the next time`() async throws {
        try await TestHost.run("Kettle", plugins: [KitchenPlugin.self]) { host in
            try await host.host.start()
            try await host.clock.run(for: .seconds(29))
            #expect(host.log.messages(from: "Kettle") == [])
            try await host.clock.run(for: .seconds(61))
            #expect(host.log.messages(from: "Kettle") == ["boiling", "boiling", "tea", "boiling"])
            #expect(host.clock.now.offset == .seconds(90))
        }
    }

    @Test func `a clock that is only advanced begins what is due`() async throws {
        let clock = TestClock()
        try await TestHost.run("Kettle", plugins: [KitchenPlugin.self], clock: clock) { host in
            try await host.host.start()
            clock.advance(by: .seconds(65))
            _ = try await host.log.record("tea")
            try await clock.run(for: .zero)
            let messages = host.log.messages(from: "Kettle")
            #expect(messages.last == "tea" || messages.contains("tea"))
            #expect((1...2).contains(messages.count { $0 == "boiling" }), "a time that passes during a body is skipped")
        }
    }

    @Test func `what a body throws is in the log`() async throws {
        try await TestHost.run("Kettle", configuration: ["leaks": "badly"], plugins: [KitchenPlugin.self]) { host in
            try await host.host.start()
            try await host.clock.run(for: .seconds(30))
            let failure = try await host.log.record("timer failed")
            #expect(failure.metadata["component"] == "Kettle" && failure.metadata["timer"] == "boil")
        }
    }
}

private struct KitchenPlugin: Plugin {
    static let id = "org.example.kitchen"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Kettle.self) }
}

private final class Kettle: Manager {
    struct Configuration: Decodable, Sendable {
        var leaks: String?
    }
    struct Leak: Error {}

    init(_ context: Context) throws {
        let leaks = context.configuration.leaks != nil
        try context.tasks.every(.seconds(30), jitter: .seconds(5), name: "boil") { [log = context.log] _ in
            if leaks { throw Leak() }
            await Task.yield()
            log.info("boiling")
        }
        try context.tasks.after(.seconds(65)) { [log = context.log] _ in log.info("tea") }
    }
}
