import Backplane
import BackplaneDefinitions
import BackplaneNetwork
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Definition files that change while their host runs.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionSwapTests {
    private static let first = #"{"search": {"request": {"path": "first/%0[zip]"}}}"#
    private static let second = #"{"search": {"request": {"path": "second/%0[zip]"}}}"#

    /// A server that answers with the path of the request, and holds back requests for the ZIP code `wait`.
    private static func server(_ latch: TestGate) -> PharmacyServer {
        PharmacyServer { request in
            if request.url.hasSuffix("/wait") { await latch.passThoughCancelled() }
            let steps = request.url.split(separator: "/")
            return PharmacyServer.json(#"[{"id": 1, "name": "\#(steps[steps.count - 2])"}]"#)
        }
    }

    private func name(_ pharmacies: Remote<Pharmacies>, _ zip: String = "1") async throws -> String? {
        try await pharmacies.search(PharmacyQuery(zip: zip)).first?.name
    }

    /// The ways in which a changed file becomes active.
    enum Way: CaseIterable, Sendable {
        case swap, swapByID, apply, swapApplying

        func take(_ test: PharmacyHost) async throws {
            switch self {
            case .swap: try await test.host.swap([test.test.folder + "/Pharmacies.json"])
            case .swapByID: try await test.host.swap(["definition.Pharmacies"])
            case .apply: try await test.host.apply(test.document)
            case .swapApplying: try await test.host.swap(applying: test.document)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a changed file is served at once, and calls in flight finish on the old one`(way: Way) async throws {
        let latch = TestGate(), test = try PharmacyHost(Self.first, server: Self.server(latch))
        try await test.host.start()
        let pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        let call = Task { try await name(pharmacies, "wait") }
        try await latch.arrivals()
        try test.define(Self.second)
        try await way.take(test)
        #expect(try await name(pharmacies) == "second")
        latch.open()
        #expect(try await call.value == "first")
        let generations = try await test.host.generations(of: "definition.Pharmacies")
        #expect(generations.map(\.state) == [.retired, .active])
        await test.host.stop()
    }

    @Test(arguments: Way.allCases)
    func `a faulty file is refused, and the old one stays`(way: Way) async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        for faulty in ["{", #"{"search": {"request": {"path": "%0%9"}}}"#, #"{"find": {"request": {"path": "x"}}}"#] {
            try test.define(faulty)
            #expect(await error { try await way.take(test) } != nil)
            #expect(try await name(pharmacies) == "first")
        }
        try test.define(Self.second)
        try await way.take(test)
        #expect(try await name(pharmacies) == "second")
        await test.host.stop()
    }

    @Test func `an unchanged file is not swapped, and a rollback returns to the earlier one`() async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        let path = test.test.folder + "/Pharmacies.json"
        #expect(try await test.host.swap([path]).outcome == .unchanged)
        try test.define(Self.second)
        let report = try await test.host.swap([path])
        #expect(report.plugins.map(\.plugin) == ["definition.Pharmacies"])
        #expect(report.plugins.first?.fromGeneration == 1 && report.plugins.first?.toGeneration == 2)
        #expect(report.components.map(\.component) == ["WebService"])
        #expect(try await name(pharmacies) == "second")
        try await test.host.rollback(plugin: "definition.Pharmacies")
        #expect(try await name(pharmacies) == "first")
        await test.host.stop()
    }

    @Test func `a method that callers use is not removed unless that is allowed`() async throws {
        let test = try PharmacyHost(), pharmacies = try await test.pharmacies
        _ = try await pharmacies.all(Nothing())
        let path = test.test.folder + "/Pharmacies.json"
        try test.define(Self.first)
        let refused = await error { try await test.host.swap([path]) }
        #expect(refused?.code == .swapRefused && refused?.causes.first?.code == .callUnimplemented)
        try await test.host.swap([path], ChangeOptions(allowsMissingMethods: true))
        #expect(await error { try await pharmacies.all(Nothing()) }?.code == .callUnimplemented)
        await test.host.stop()
    }

    @Test func `no call is lost in a hundred swaps under callers`() async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        let path = test.test.folder + "/Pharmacies.json", begun = TestGate(), isOver = TestGate()
        begun.open()
        let callers = (0..<2).map { _ in
            Task {
                var calls = 0
                while isOver.arrived == 0 {
                    let name = try await name(pharmacies)
                    #expect(name == "first" || name == "second")
                    calls += 1
                    if calls == 1 { await begun.passThoughCancelled() }
                }
                return calls
            }
        }
        isOver.open()
        try await begun.arrivals(2)
        for index in 0..<100 {
            try test.define(index.isMultiple(of: 2) ? Self.second : Self.first)
            #expect(try await test.host.swap([path]).outcome == .changed)
        }
        await isOver.passThoughCancelled()
        for caller in callers { #expect(try await caller.value > 0) }
        await test.host.stop()
    }
}
