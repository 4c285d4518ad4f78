import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

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

    @discardableResult
    private func swap(_ test: TestHost, _ linked: [LinkedPlugin]) async throws -> ChangeReport {
        let coordinator = test.host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) {
            try await coordinator.swap(linked: linked, .patient, progress: nil)
        }
    }

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
        let alone = await error { try await swap(test, [Self.shelf("2.0.0", New.Shelf.self)]) }
        #expect(alone?.code == .swapRefused)
        #expect(alone?.causes.map(\.code) == [.wireMismatch, .swapRefused], "\(String(describing: alone))")
        #expect(alone?.message.contains(Self.unreadable) == true)
        let report = try await swap(
            test,
            [
                Self.shelf("2.0.0", New.Shelf.self), Self.clerk("2.0.0", New.Clerk.self),
            ])
        #expect(report.outcome == .changed && report.warnings == [])
        await test.host.stop()
    }

    @Test func `a swap is refused for the host program's wires, too`() async throws {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"Shelf": {"className": "Shelf"}}}"#,
            linked: [Self.shelf("1.0.0", Old.Shelf.self)])
        let shelf: Remote<Old.Counting> = try await test.host.manager("Shelf")
        #expect(try await shelf.stock().count == 3)
        let refused = await error { try await swap(test, [Self.shelf("2.0.0", New.Shelf.self)]) }
        #expect(refused?.code == .swapRefused && refused?.causes.map(\.code) == [.wireMismatch])
        #expect(refused?.message.contains("the host program calls Shelf") == true)
        #expect(
            refused?.message.contains(Self.unreadable + "the host program") == true, "\(String(describing: refused))")
        #expect(try await shelf.stock().count == 3)
        await test.host.stop()
    }
}
