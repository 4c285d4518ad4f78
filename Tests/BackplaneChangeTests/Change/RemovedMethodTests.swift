import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// New code without a method that a caller uses.
@Suite(.timeLimit(.minutes(5)))
struct RemovedMethodTests {
    /// A plugin whose manager may call a counter, and needs all of its methods or few.
    private enum OptionalClients {
        static func edition(_ version: Version, isNarrow: Bool = false) -> LinkedPlugin {
            LinkedPlugin(id: "org.backplane.tests.optional-clients", version: version) {
                if isNarrow { $0.add(NarrowClient.self) } else { $0.add(OptionalClient.self) }
            }
        }
    }

    private final class OptionalClient: Manager {
        struct Wires: Wiring {
            let counter: Wire<Counting>?
        }
        init(_ context: Context) {}
    }

    private final class NarrowClient: Manager {
        struct Wires: Wiring {
            let counter: Wire<NarrowerCounting>?
        }
        static let className = "OptionalClient"
        init(_ context: Context) {}
    }

    private static let optional = ClientPlugin.manager("OptionalClient")

    private func expectRefusal(_ error: BackplaneError?, _ callers: [String]) {
        #expect(error?.code == .swapRefused, "\(String(describing: error))")
        #expect(error?.causes.map(\.code) == callers.map { _ in .callUnimplemented })
        for caller in callers {
            let words = "\(caller) `edition`, `act` of `Counting`, which the active code of Counter provides"
            #expect(error?.causes.contains { $0.message.hasPrefix(words) } == true, "\(String(describing: error))")
        }
    }

    @Test func `it is refused, naming the host program, wires that are optional and those that were looked up`()
        async throws
    {
        let counters = try CounterHost(
            others: ["Client": ClientPlugin.manager("Client"), "Optional": Self.optional],
            linked: [LinkedPlugin(ClientPlugin.self), OptionalClients.edition("1.0.0")])
        try await counters.host.start()
        let client: Remote<Clients> = try await counters.host.manager("Client"), counter = try await counters.counter()
        #expect(try await client.addFound(5) == 5)
        let failure = await error { try await counters.swap(linked: [OtherCounters.narrower]) }
        expectRefusal(
            failure,
            [
                "Client, through its wire `counter`, calls", "Optional, through its wire `counter`, calls",
                "the host program calls", "Client, through its wire `Counter`, calls",
            ])
        #expect(try await (counter.edition(), counter.add(1)) == (1, 6))
        #expect(counters.counters["Counter"]!.all == ["made 1", "activate 1"])
        try await counters.swap(CounterScript(edition: 2))
        #expect(try await counter.edition() == 2, "further swaps are not affected")
        await counters.host.stop()
    }

    @Test func `a caller that is swapped with it is compared by its new code`() async throws {
        let counters = try CounterHost(
            others: ["Optional": Self.optional], linked: [OptionalClients.edition("1.0.0")])
        try await counters.host.start()
        let alone = await error { try await counters.swap(linked: [OtherCounters.narrower]) }
        expectRefusal(alone, ["Optional, through its wire `counter`, calls"])
        let useless = await error {
            try await counters.swap(linked: [OtherCounters.narrower, OptionalClients.edition("1.1.0")])
        }
        expectRefusal(useless, ["Optional, through its wire `counter`, calls"])
        let report = try await counters.swap(linked: [
            OtherCounters.narrower, OptionalClients.edition("2.0.0", isNarrow: true),
        ])
        #expect(report.outcome == .changed && report.warnings == [])
        await counters.host.stop()
    }

    @Test func `it is done if that is allowed, and a caller that comes later is warned`() async throws {
        let counters = try CounterHost(
            others: ["Optional": Self.optional], linked: [OptionalClients.edition("1.0.0")])
        let counter = try await counters.counter()
        try await counters.host.start()
        #expect(try await counter.add(5) == 5)
        let report = try await counters.swap(
            linked: [OtherCounters.narrower], ChangeOptions(allowsMissingMethods: true))
        #expect(report.outcome == .changed)
        #expect(report.warnings.contains { $0.contains("`act`") && $0.contains("Counting") }, "\(report.warnings)")
        #expect(try await counter.add(1) == 6)
        #expect(await error { try await counter.act("") }?.code == .callUnimplemented)
        // The wire has lost nothing by this swap: the active provider has never had these methods.
        let next = try await counters.swap(linked: [OptionalClients.edition("1.1.0")])
        #expect(next.outcome == .changed)
        await counters.host.stop()
    }
}
