import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import Testing

@Suite(.timeLimit(.minutes(2)))
struct FakeTests {
    private func ring(
        _ fakes: [Fake.Place: Fake], lanes: LaneRule = .fastest, setUp: (TestHost) -> Void = { _ in }
    ) async throws -> String {
        try await TestHost.run(.parish, plugins: [ParishPlugin.self], fakes: fakes, lanes: lanes) { host in
            setUp(host)
            return try await host.manager(.sexton).ring("noon")
        }
    }

    private func tower(_ host: TestHost) { host.http.on("GET", "http://tower.test/noon", .status(200, text: "dong")) }

    private static let errand = Fake(Errand.self) { $0.async(\.run) { text, _ in "ran \(text)" } }

    @Test func `without a fake everything is real`() async throws {
        #expect(try await ring([:], setUp: tower) == "200 dong 1 at 12")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a communication controller is replaced with its services, in both lanes`(lanes: LaneRule) async throws {
        #expect(
            try await ring([.communicationController(of: "Sexton"): Self.errand], lanes: lanes) == "ran noon 1 at 12")
    }

    @Test func `a data access controller is replaced`() async throws {
        let kept = Recording<String>()
        let ledger = Fake(Ledger.self) { ledger in
            ledger.async(\.keep) { text, _ in
                kept.add(text)
                return 40 + kept.all.count
            }
        }
        #expect(try await ring([.dataAccessController(of: "Sexton"): ledger], setUp: tower) == "200 dong 41 at 12")
        #expect(kept.all == ["200 dong"])
    }

    @Test func `a service is replaced by the property that receives it`() async throws {
        let bell = Fake(Bell.self) { $0.async(\.strike) { text, _ in "struck \(text)" } }
        #expect(try await ring([.service("bell", of: "Sexton"): bell]) == "struck noon 1 at 12")
    }

    @Test(arguments: [Fake.Place.manager("Sundial"), .use("hours", of: "Sexton")])
    func `another manager is replaced by its name or where it is used`(place: Fake.Place) async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 3 } }
        #expect(try await ring([place: hours], setUp: tower) == "200 dong 1 at 3")
    }

    @Test func `a manager that is only named under uses can be a fake`() async throws {
        var manifest = Manifest.parish
        manifest.managers["Sundial"] = nil
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 4 } }
        let answer = try await TestHost.run(
            manifest, plugins: [ParishPlugin.self],
            fakes: [.manager("Sundial"): hours, .communicationController(of: "Sexton"): Self.errand]
        ) { try await $0.manager(.sexton).ring("noon") }
        #expect(answer == "ran noon 1 at 4")
    }

    @Test func `a manager that a component looks up can be added`() async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 5 } }
        let answer = try await TestHost.run(
            "Watchman", plugins: [ParishPlugin.self], fakes: [.addedManager("Sundial"): hours]
        ) { host in
            try await host.manager("Watchman", as: Errand.self).run("Sundial")
        }
        #expect(answer == "5")
    }

    @Test func `a fake is not held to the manifest's lock, and what stays is`() async throws {
        var manifest = Manifest.parish
        let real = LockedClass(plugin: "org.example.parish", version: "1.0.0")
        manifest.lock = [
            "Sexton": real, "Sundial": real, "Sexton/dataAccessController": real,
            "Sexton/communicationController": real,
            "Sexton/communicationController/bell": real,
        ]
        let places: [Fake.Place: Fake] = [
            .dataAccessController(of: "Sexton"): Fake(Ledger.self) { $0.async(\.keep) { _, _ in 1 } },
            .service("bell", of: "Sexton"): Fake(Bell.self),
            .manager("Sundial"): Fake(Hours.self),
        ]
        for (place, fake) in places {
            try await TestHost.run(manifest, plugins: [ParishPlugin.self], fakes: [place: fake]) {
                _ = try await $0.manager(.sexton)
            }
        }
        manifest.lock?["Sexton"]?.version = "2.0.0"
        let error = await #expect(throws: ManifestRefused.self) {
            try await TestHost.run(
                manifest, plugins: [ParishPlugin.self], fakes: [.communicationController(of: "Sexton"): Self.errand]
            ) { _ in }
        }
        #expect(error?.problems.map(\.error.code) == [.lockMismatch])
    }

    @Test func `a whole manager is replaced, and what only it used is not made`() async throws {
        let sexton = Fake(Ringing.self) { $0.async(\.ring) { text, _ in "no \(text)" } }
        try await TestHost.run(.parish, plugins: [ParishPlugin.self], fakes: [.manager("Sexton"): sexton]) { host in
            let ringing = try await host.manager(.sexton)
            #expect(try await ringing.ring("noon") == "no noon")
            #expect(await host.host.managers.map(\.state.description) == ["ready", "resolved"])
            let wires = await host.host.wires
            #expect(wires.map(\.provider) == ["Sexton"] && wires.map(\.lane) == [.native])
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a member without a closure says so when it is called`(lanes: LaneRule) async throws {
        try await TestHost.run(
            .parish, plugins: [ParishPlugin.self], fakes: [.manager("Sexton"): Fake(Ringing.self)], lanes: lanes
        ) { host in
            let ringing = try await host.manager(.sexton)
            let asynchronous = await #expect(throws: BackplaneError.self) { try await ringing.ring("noon") }
            let synchronous = #expect(throws: BackplaneError.self) { try ringing.count() }
            #expect(asynchronous?.code == .callUnimplemented)
            #expect(asynchronous?.message == "Fake.Ringing replaces a Ringing but does not implement `ring`")
            #expect(synchronous?.message == "Fake.Ringing replaces a Ringing but does not implement `count`")
        }
    }

    @Test func `what a closure throws arrives as a component's error does`() async throws {
        struct Cracked: ComponentError {
            var code: String { "bell.cracked" }
            var message: String { "it has a crack" }
        }
        let bell = Fake(Bell.self) { $0.async(\.strike) { _, _ in throw Cracked() } }
        let error = await #expect(throws: BackplaneError.self) {
            try await ring([.service("bell", of: "Sexton"): bell])
        }
        #expect(
            error
                == BackplaneError(
                    .componentFailed, "it has a crack", failure: BackplaneError.Failure(code: "bell.cracked")))
    }
}

/// Fakes that take their time.
extension FakeTests {
    @Test func `what waits through a wire waits by the test's clock`() async throws {
        let clock = TestClock()
        let errand = Fake(Errand.self) {
            $0.async(\.run) { text, _ in
                try await clock.sleep(for: .seconds(3_600))
                return text
            }
        }
        async let answer = ring([.communicationController(of: "Sexton"): errand])
        try await clock.sleepers()
        clock.advance(by: .seconds(3_600))
        #expect(try await answer == "noon 1 at 12")
    }

    @Test func `a call that is cancelled cancels the fake that it waits for`() async throws {
        let gate = TestGate()
        let errand = Fake(Errand.self) {
            $0.async(\.run) { text, _ in
                try await gate.pass()
                return text
            }
        }
        let call = Task { try await ring([.communicationController(of: "Sexton"): errand]) }
        try await gate.arrivals()
        call.cancel()
        let error = await #expect(throws: BackplaneError.self) { try await call.value }
        #expect(error?.code == .callCancelled)
    }
}

/// Fakes with a class of the test's own.
extension FakeTests {
    final class LoudTower: NetworkService {
        typealias Provides = Bell
        struct Configuration: Decodable, Sendable {
            var sound: String
        }
        private let sound: String
        init(_ context: Context) { sound = context.configuration.sound }
        static func methods(_ table: inout Methods) {
            table.async(\.strike) { tower, _, _ in tower.sound }
        }
    }

    /// Asks its service as the one that it replaces does.
    final class EagerMessenger: CommunicationController {
        typealias Provides = Errand
        struct Wires: Wiring {
            let bell: Wire<Bell>
        }
        private let wires: Wires
        init(_ context: Context) { wires = context.wires }
        static func methods(_ table: inout Methods) {
            table.async(\.run) { messenger, text, call in "soon " + (try await messenger.wires.bell.strike(text, call))
            }
        }
    }

    @Test func `a class has its own configuration`() async throws {
        #expect(
            try await ring([.service("bell", of: "Sexton"): Fake(LoudTower.self, configuration: ["sound": "BONG"])])
                == "BONG 1 at 12")
    }

    @Test func `a class keeps the collaborators that it asks for`() async throws {
        #expect(
            try await ring([.communicationController(of: "Sexton"): Fake(EagerMessenger.self)], setUp: tower)
                == "soon 200 dong 1 at 12")
        let both: [Fake.Place: Fake] = [
            .communicationController(of: "Sexton"): Fake(EagerMessenger.self),
            .service("bell", of: "Sexton"): Fake(LoudTower.self, configuration: ["sound": "BONG"]),
        ]
        #expect(try await ring(both) == "soon BONG 1 at 12")
    }

    @Test func `a class may be the namesake of the one that it replaces`() async throws {
        #expect(try await ring([.manager("Sundial"): Fake(Namesakes.Sundial.self)], setUp: tower) == "200 dong 1 at 0")
    }

    enum Namesakes {
        final class Sundial: Manager {
            typealias Provides = Hours
            init(_ context: Context) {}
            static func methods(_ table: inout Methods) {
                table.sync(\.now) { _, _, _ in 0 }
            }
        }
    }
}

/// Fakes that do not fit.
extension FakeTests {
    private func refusal(_ fakes: [Fake.Place: Fake]) async -> String {
        let error = await #expect(throws: ManifestRefused.self) { try await ring(fakes) }
        return error?.description ?? ""
    }

    @Test func `one that provides another contract is the manifest's problem`() async {
        #expect(
            await refusal([.communicationController(of: "Sexton"): Fake(Hours.self)]) == """
                there is a problem with the manifest
                  /managers/Sexton/communicationController/className: wire.mismatch: `Sexton` 1.0.0 of plugin `org.example.parish` asks for `Errand` 1.0.0 \
                as `communicationController`; `Fake.Hours` 1.0.0 of plugin `org.backplane.testkit.fakes` provides `Hours` 1.0.0
                """)
    }

    @Test func `a class of another role is the manifest's problem`() async {
        #expect(
            await refusal([.communicationController(of: "Sexton"): Fake(LoudTower.self)]) == """
                there is a problem with the manifest
                  /managers/Sexton/communicationController/className: component.wrong-role: `Fake.LoudTower` 1.0.0 of plugin `org.backplane.testkit.fakes` \
                is a network service, not a communication controller
                """)
    }

    @Test func `one that nobody asks for is the manifest's problem, and all problems come at once`() async {
        let text = await refusal([
            .use("moon", of: "Sexton"): Fake(Hours.self), .service("drum", of: "Sexton"): Fake(Bell.self),
        ])
        #expect(text.hasPrefix("there are 2 problems with the manifest\n"), "\(text)")
        #expect(text.contains("uses no `moon`") && text.contains("has no property `drum`"), "\(text)")
    }

    @Test(arguments: [
        (
            [Fake.Place.dataAccessController(of: "Sixton")],
            "manager.unknown: a fake is given for the data access controller of `Sixton`, but the manifest has no manager `Sixton`; it has `Sexton`, `Sundial`"
        ),
        (
            [.manager("Moondial")],
            "manager.unknown: a fake is given for the manager `Moondial`, but the manifest has no manager `Moondial`; it has `Sexton`, `Sundial`"
        ),
        (
            [.addedManager("Sundial")],
            "wire.mismatch: a fake is given for the added manager `Sundial`, but the manifest already has a manager of that name; `.manager(\"Sundial\")` replaces it"
        ),
        (
            [.dataAccessController],
            "manager.unknown: a fake is given for the data access controller, of one of 2 managers; choose the manager with `of:`"
        ),
        (
            [.service("bell", of: "Sundial")],
            "manifest.missing-key: a fake is given for the service `bell` of `Sundial`, which has no communication controller to receive it"
        ),
    ])
    func `a place that is not there is an error that says what is`(places: [Fake.Place], words: String) async {
        let fakes = Dictionary(uniqueKeysWithValues: places.map { ($0, Fake(Bell.self)) })
        let error = await #expect(throws: BackplaneError.self) { try await ring(fakes) }
        #expect(error?.description == words)
    }

    @Test func `two fakes for one place are an error`() async {
        let error = await #expect(throws: BackplaneError.self) {
            try await TestHost.run(
                "Sexton", plugins: [ParishPlugin.self],
                fakes: [.communicationController: Self.errand, .communicationController(of: "Sexton"): Self.errand]
            ) { try await $0.manager(.sexton).ring("noon") }
        }
        #expect(
            error?.description
                == "wire.mismatch: two fakes are given for the communication controller of `Sexton`; give only one")
    }
}
