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

/// A contract whose value was changed in one plugin only, without another version.
@Suite(.timeLimit(.minutes(5)))
struct UnreadableValueTests {
    private enum Old {
        struct Stock: Codable, Sendable { var count: Int }
        struct Counting: Contract {
            static let name = "StockCounting"
            static let version: Version = "1.0.0"
            let stock = AsyncMethod<Nothing, Stock>()
        }
        final class Shelf: Manager {
            typealias Provides = Counting
            init(_ context: Context) {}
            static func methods(_ table: inout Methods) { table.async(\.stock) { _, _, _ in Stock(count: 3) } }
        }
        final class Clerk: Manager {
            struct Wires: Wiring { let shelf: Wire<Counting> }
            init(_ context: Context) {}
        }
    }
    private enum New {
        struct Stock: Codable, Sendable { var count: String }
        struct Counting: Contract {
            static let name = "StockCounting"
            static let version: Version = "1.0.0"
            let stock = AsyncMethod<Nothing, Stock>()
        }
        final class Shelf: Manager {
            typealias Provides = Counting
            init(_ context: Context) {}
            static func methods(_ table: inout Methods) { table.async(\.stock) { _, _, _ in Stock(count: "three") } }
        }
        final class Clerk: Manager {
            struct Wires: Wiring { let shelf: Wire<Counting> }
            init(_ context: Context) {}
        }
    }

    private static func shelf<M: Manager>(_ version: Version, _: M.Type) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.shelf", version: version) { $0.add(M.self, named: "Shelf") }
    }
    private static func clerk<M: Manager>(_ version: Version, _: M.Type) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.clerk", version: version) { $0.add(M.self, named: "Clerk") }
    }
    private static let managers = #"""
        {"manifestVersion": 1, "plugins": [], "managers": {
            "Shelf": {"className": "Shelf"}, "Clerk": {"className": "Clerk", "uses": {"shelf": "Shelf"}}
        }}
        """#
    private static let unreadable =
        "what `stock` answers cannot be read: `/count` is `String` in plugin `org.backplane.tests.shelf` and `Int` in "

    @Test func `it is an error before anything starts, at the wire`() async throws {
        let test = try TestHost(
            Self.managers, linked: [Self.shelf("2.0.0", New.Shelf.self), Self.clerk("1.0.0", Old.Clerk.self)])
        let problems = await test.host.check()
        #expect(problems.map(\.severity) == [.error] && problems.map(\.error.code) == [.wireMismatch])
        #expect(problems.first?.error.location == "/managers/Clerk/uses/shelf")
        #expect(
            problems.first?.error.message
                == "`Clerk` 1.0.0 of plugin `org.backplane.tests.clerk` asks for `StockCounting` 1.0.0 as `shelf`, but "
                + Self.unreadable
                + "plugin `org.backplane.tests.clerk`; build both with one contract and swap them together, or raise the contract's version"
        )
        await test.host.stop()
    }

    @Test func `a swap that brings it is refused, and one of both plugins is done`() async throws {
        let test = try TestHost(
            Self.managers, linked: [Self.shelf("1.0.0", Old.Shelf.self), Self.clerk("1.0.0", Old.Clerk.self)])
        try await test.host.start()
        let alone = await error { try await test.host.swap(linked: [Self.shelf("2.0.0", New.Shelf.self)]) }
        #expect(alone?.code == .swapRefused)
        #expect(alone?.causes.map(\.code) == [.wireMismatch, .swapRefused], "\(String(describing: alone))")
        #expect(alone?.message.contains(Self.unreadable) == true)
        let report = try await test.host.swap(
            linked: [
                Self.shelf("2.0.0", New.Shelf.self), Self.clerk("2.0.0", New.Clerk.self),
            ])
        #expect(report.outcome == .changed && report.warnings == [])
        await test.host.stop()
    }
}
