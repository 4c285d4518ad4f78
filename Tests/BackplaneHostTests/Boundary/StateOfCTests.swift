import BackplaneTestKit
import CBackplane
import TestFixtures
import Testing

@testable import Backplane
@testable import BackplaneHost

/// State and health of a component in C, as a host asks for them.
@Suite(.timeLimit(.minutes(5)))
struct StateOfCTests {
    /// Creates an instance of a class of `Tests/Plugins/FixturesInC/byte-state.c`.
    private func make(_ className: String = "ByteState") async throws -> ComponentInstance {
        let entry = unsafeBitCast(
            try DynamicLibrary(loading: BuiltProducts.folder + "/libFixturesInC.so").symbol(LibraryFile.entry),
            to: PluginDescription.Entry.self)
        let plugin = try PluginDescription(asking: entry, getInterface: { _, _ in nil })
        let found = try #require(plugin.components.first { $0.description.className == className })
        let creation = ComponentClass.OfferedCreation(
            number: 1, handle: 1, configuration: Array("{}".utf8), folder: "", resources: "", connections: [])
        return try await found.create(creation, { _ in })
    }

    @Test func `bytes of any kind go over, none and many`() async throws {
        for bytes in [[], [0], [0xFF, 0, 0xFE, 0x22], [UInt8](repeating: 0xAB, count: 20_000_000)] as [[UInt8]] {
            let old = try await make(), new = try await make()
            try await old.importState(bytes, version: 2, { _ in })
            try await old.suspend({ _ in })
            let state = try await old.exportState(version: 2, { _ in })
            try await new.importState(state, version: 2, { _ in })
            let again = try await new.exportState(version: 2, { _ in })
            #expect(state == bytes && again == bytes, "of \(bytes.count)")
        }
    }

    @Test func `it receives the versions to read and to write`() async throws {
        let component = try await make()
        try await component.importState([7], version: 1, { _ in })
        #expect(try await component.exportState(version: 2, { _ in }) == Array("!".utf8) + [7])
        #expect(try await component.exportState(version: 1, { _ in }) == [7])
    }

    @Test func `only the first of two answers counts, and a refusal is an error in its words`() async throws {
        let component = try await make("ExportsTwice")
        #expect(try await component.exportState(version: 2, { _ in }) == Array("first".utf8))
        #expect(
            await error { try await component.importState([], version: 2, { _ in }) }
                == BackplaneError(.componentFailed, "the state is locked"))
    }

    @Test func `an export that never ends is ended by the host`() async throws {
        let late = BackplaneError(.callDeadline, "the export took too long")
        let component = try await make("NeverExports")
        let ended = await error {
            _ = try await component.exportState(version: 2, { _ = Callbacks.end($0, EncodedAnswer(late)) })
        }
        #expect(ended == late)
    }

    @Test func `one without state has none, and one that is not well says so`() async throws {
        #expect(
            await error { _ = try await make("WithoutState").exportState(version: 1, { _ in }) }?.code
                == .callUnimplemented
        )
        let component = try await make()
        #expect(component.hasHealthCheck)
        try await component.checkHealth({ _ in })
        try await component.importState([1, 2], version: 2, { _ in })
        #expect(
            await error { try await component.checkHealth({ _ in }) }
                == BackplaneError(.componentFailed, "the state is full"))
        #expect(component.failures == 0, "it has no native lane")
    }
}

/// A plugin in C++, with exceptions inside, made from the header alone.
@Suite(.timeLimit(.minutes(5)))
struct LedgerTests {
    private let test: TestHost

    init() throws {
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Ledger"}],
             "managers": {"Trials": {"className": "TrialManager"},
                          "Ledger": {"className": "LedgerManager", "uses": {"trials": "Trials"}}}}
            """,
            pluginPaths: [BuiltProducts.folder])
    }

    private func call(_ method: String, _ input: String = "null") async throws(BackplaneError) -> String {
        try await test.call("Ledger", method, input)
    }

    @Test func `methods of both kinds answer`() async throws {
        #expect(try await call("total") == "0")
        #expect(try await call("add", "7") == "7")
        #expect(try await call("add", "-3") == "4")
        #expect(try await call("edition") == "1")
        await test.host.stop()
    }

    @Test func `an error of its own arrives whole`() async throws {
        #expect(try await call("add", "5") == "5")
        let overdrawn = await error { try await call("add", "-12") }
        #expect(overdrawn?.code == .componentFailed && overdrawn?.message == "the ledger lacks 7")
        #expect(overdrawn?.failure?.code == "ledger.overdrawn" && overdrawn?.failure?.details == ["missing": "7"])
        #expect(try await call("total") == "5", "nothing was taken")
        let ledger: Remote<LedgerInSwift> = try await test.host.manager("Ledger")
        let typed = await #expect(throws: LedgerInSwift.Overdrawn.self) { try await ledger.add(-9) }
        #expect(typed?.missing == 4)
        await test.host.stop()
    }

    /// The C++ plugin's contract for users in Swift.
    private struct LedgerInSwift: Contract {
        typealias Failure = Overdrawn
        static let name = "Ledger"
        static let version: Version = "1.0.0"
        let add = AsyncMethod<Int, Int>()

        struct Overdrawn: ContractError {
            var missing: Int
            var code: String { "ledger.overdrawn" }
            var message: String { "the ledger lacks \(missing)" }
        }
    }

    @Test func `it calls its collaborator, and passes on the answer or the error`() async throws {
        #expect(try await test.call("Trials", "path") == "[]")
        #expect(try await call("path") == "[2]", "the call came through the ledger")
        let trouble = await error { try await call("fail", #""ouch""#) }
        #expect(trouble?.code == .componentFailed && trouble?.message == "ouch")
        #expect(trouble?.failure == .init(code: "trial.trouble", details: ["length": "4"]))
        await test.host.stop()
    }

    @Test func `a call that is given up, or too late, ends in the plugin, which goes on`() async throws {
        _ = try await call("total")
        let calls = try await test.host.coordinator.running("Ledger").calls
        let givenUp = Task { [test] in try await test.call("Ledger", "wait") }
        _ = try await test.log.record("waiting")
        givenUp.cancel()
        #expect(await error { try await givenUp.value }?.code == .callCancelled)
        await eventually { calls.callsInFlight == 0 }
        #expect(test.log.lines.suffix(2) == ["Ledger waiting", "Ledger cancelled"])
        let late = await error {
            try await test.expiring(.farAway) { [test] in try await test.call("Ledger", "wait", within: .farAway) }
        }
        #expect(late?.code == .callDeadline)
        await eventually { calls.callsInFlight == 0 }
        #expect(try await call("add", "1") == "1")
        await test.host.stop()
    }

    @Test func `another edition takes over with the state, and the one before comes back`() async throws {
        #expect(try await call("add", "40") == "40")
        let next = try test.files.write(FixtureLibrary.bytes("Ledger", version: "2.0.0"), as: "libNext.so")
        let report = try await test.host.swap(
            library: next, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        #expect(report.outcome == .changed)
        #expect(try await call("edition") == "2")
        #expect(try await call("add", "2") == "42")
        _ = try await test.host.rollback(plugin: "org.backplane.tests.ledger", to: 1, .patient)
        #expect(try await call("edition") == "1")
        #expect(try await call("total") == "42")
        await test.host.stop()
    }
}
