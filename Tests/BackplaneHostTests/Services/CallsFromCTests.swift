import Backplane
import BackplaneTestKit
import CBackplane
import Challenge
import FoundationEssentials
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// A manager in C that calls one in Swift, through the host.
@Suite(.timeLimit(.minutes(5)))
struct CallsFromCTests {
    /// A host with the manager `Caller`, which is wired to the tests' trial manager and asks for what its role may not
    /// have.
    private func host(stopLimit: Duration = .seconds(10)) throws -> TestHost {
        try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "FixturesInC"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Caller": {"className": "Caller", "uses": {"trials": "Trials"}}}}
            """#,
            pluginPaths: [BuiltProducts.folder], stopLimit: stopLimit)
    }

    @Test func `it is answered, and its call came through it`() async throws {
        let test = try host()
        #expect(try await test.call("Caller", "wait", "0") == #""waited""#)
        let direct = try await test.call("Trials", "path"), through = try await test.call("Caller", "path")
        #expect(direct == "[]")
        #expect(through == "[2]", "the second component that was made")
        await test.host.stop()
    }

    @Test func `errors arrive whole`() async throws {
        let test = try host()
        for method in ["fail", "failNow"] {
            let arrived = await error { try await test.call("Caller", method, #""ouch""#) }
            #expect(arrived?.code == .componentFailed)
            #expect(arrived?.message == "ouch")
            #expect(arrived?.failure == .init(code: "trial.trouble", details: ["length": "4"]))
            let plugins = ["org.backplane.tests.fixtures-in-c", "org.backplane.tests.challenge"]
            #expect(arrived?.calls == ["Caller.\(method) (\(plugins[0]))", "Trials.\(method) (\(plugins[1]))"])
        }
        await test.host.stop()
    }

    @Test func `deadlines go through it`() async throws {
        let test = try host()
        let trials = try await test.host.manager("Trials", as: Trials.self)
        try await expectCancellation(at: trials, test, calls: 2) { call in
            try await test.host.call("Caller", "wait", Array("3600".utf8), call)
        }
        await test.host.stop()
    }

    @Test func `a component cancels no calls but its own`() async throws {
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "FixturesInC"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Caller": {"className": "Caller", "uses": {"trials": "Trials"}},
                          "Other": {"className": "Caller", "uses": {"trials": "Trials"}}}}
            """#,
            pluginPaths: [BuiltProducts.folder])
        let trials = try await test.host.manager("Trials", as: Trials.self)
        let own = try await test.host.coordinator.running("Caller").handle
        let other = try await test.host.coordinator.running("Other").handle
        let wire = try #require(ComponentHandles.find(own)?.wires.withLock { $0.keys.first })
        let calls = (0..<2).map { _ in
            Array("3600".utf8).withBytes { input in
                Call(within: nil).withC { callFunctions.call(own, wire, 2, input, $0, { _, _, _ in }, nil) }
            }
        }
        callFunctions.cancel(other, calls[0])
        callFunctions.cancel(own, calls[1])
        try await eventually { try trials.cancellations() > 0 }
        // The one that another component has cancelled.
        let provider = try await test.host.coordinator.running("Trials").calls
        await eventually { provider.callsInFlight == 1 }
        callFunctions.cancel(own, calls[0])
        try await eventually { try trials.cancellations() == 2 }
        await test.host.stop()
    }

    @Test func `no handle of a component tells those of others`() async throws {
        let test = try host()
        let own = try await test.host.coordinator.running("Caller").handle
        for distance in 1...1_000 as ClosedRange<UInt64> {
            #expect(ComponentHandles.find(own &+ distance) == nil && ComponentHandles.find(own &- distance) == nil)
        }
        await test.host.stop()
        let late = await error { try ComponentHandles.require(own) }
        #expect(late?.code == .callRetired, "it is known to have been one")
    }

    @Test func `a call of its own in flight ends with it, and holds up no stop`() async throws {
        let test = try host(stopLimit: .seconds(3_600))
        let trials = try await test.host.manager("Trials", as: Trials.self)
        #expect(try await test.call("Caller", "begin", "3600") == "null")
        #expect(try trials.cancellations() == 0)
        await test.host.stop()
        #expect(test.log.lines == ["Caller its call ended: retired"])
        #expect(test.log.records.allSatisfy { $0.level < .warning })
    }

    @Test func `it looks a manager up and calls it, as often as it likes by one wire`() async throws {
        let test = try host()
        for _ in 0..<3 { #expect(try await test.call("Caller", "find", #""Trials""#) == "[2]") }
        #expect(
            await test.host.wires.count { $0.user == "Caller" } == 2,
            "the one that it declares, and the one that it looked up")
        let listed = try JSONDecoder().decode(
            [[String: String]].self, from: Data(try await test.call("Caller", "list").utf8))
        #expect(
            listed == [
                [
                    "name": "Trials", "className": "TrialManager", "version": "1.4.0",
                    "plugin": "org.backplane.tests.challenge",
                ]
            ])
        await test.host.stop()
    }

    @Test func `a method and a wire that it did not declare are errors that say so`() async throws {
        let test = try host()
        #expect(await error { try await test.call("Caller", "missing") }?.code == .callUnimplemented)
        #expect(await error { try await test.call("Caller", "noSuchWire") }?.code == .wireUnknown)
        await test.host.stop()
    }
}

/// A manager in C that asks for what its role may not have, under its own handle and under others.
@Suite(.timeLimit(.minutes(5)))
struct RoleTests {
    private struct Told: Decodable, Equatable {
        var status: Int32
        var text: String
    }

    private func withTrespasser(_ body: (TestHost) async throws -> Void) async throws {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "Hostile"}], "managers": {"Trespasser": {"className": "Trespasser"}}}"#,
            pluginPaths: [BuiltProducts.folder])
        try await body(test)
        await test.host.stop()
    }

    private func ask(_ service: String, as asker: String, _ test: TestHost) async throws -> Told {
        try JSONDecoder().decode(Told.self, from: Data(try await test.call("Trespasser", service, "\"\(asker)\"").utf8))
    }

    @Test(arguments: ["http", "write", "query"])
    func `what its role may not do is forbidden, by a status and a reason in plain text`(service: String) async throws {
        try await withTrespasser { test in
            let told = try await ask(service, as: "itself", test)
            #expect(told.status == BP_FORBIDDEN)
            let reason =
                service == "http"
                ? "only communication controllers and network services can use backplane.http"
                : "only data access controllers can use backplane.store"
            #expect(told.text == "Trespasser is a manager; \(reason)")
        }
    }

    @Test(arguments: ["http", "write", "query", "call"], ["nobody", "a stranger"])
    func `an unknown handle opens nothing`(service: String, asker: String) async throws {
        try await withTrespasser { test in
            let told = try await ask(service, as: asker, test)
            #expect(told.status == BP_FORBIDDEN)
            #expect(
                told.text.hasPrefix("no component has the handle ")
                    && told.text.hasSuffix("; pass the one from bp_creation"))
        }
    }

    @Test func `only components can write to the log`() async throws {
        try await withTrespasser { test in
            for (asker, isHeard) in [("nobody", "false"), ("a stranger", "false"), ("itself", "true")] {
                let answer = try await test.call("Trespasser", "log", "\"\(asker)\"")
                #expect(answer == isHeard, "\(asker)")
            }
            #expect(test.log.lines == ["Trespasser a trespasser was here"], "one line, of the one that is a component")
        }
    }

    @Test func `a wire that it was not given is unknown`() async throws {
        try await withTrespasser { test in
            let told = try await ask("call", as: "itself", test)
            #expect(told.status == BP_ERROR, "a code that no status stands for")
            #expect(told.text.contains("wire.unknown"))
        }
    }
}

/// Answers that lead back into the component before `done` has returned, on its own thread.
@Suite(.timeLimit(.minutes(5)))
struct ReentryTests {
    @Test func `done may call the component again before it returns, and the payload of a step is ignored`()
        async throws
    {
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "FixturesInC"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Deep": {"className": "Deep", "uses": {"trials": "Trials"}},
                          "Again": {"className": "Again", "uses": {"deep": "Deep"}}}}
            """#,
            pluginPaths: [BuiltProducts.folder])
        #expect(try await test.call("Deep", "depth") == "1")
        #expect(try await test.call("Again", "again") == "5", "each call came inside the answer of the one before")
        let deep = try await test.host.coordinator.running("Deep")
        try await deep.instance.checkHealth { _ in }
        await test.host.stop()
        #expect(test.log.records.allSatisfy { $0.level < .warning })
    }
}
