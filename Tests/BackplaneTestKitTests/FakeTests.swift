import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import Testing

@Suite(.timeLimit(.minutes(2)))
struct FakeTests {
    private func lend(
        _ fakes: [Fake.Place: Fake], lanes: LaneRule = .fastest, setUp: (TestHost) -> Void = { _ in }
    ) async throws -> String {
        try await TestHost.run(.lending, plugins: [LendingPlugin.self], fakes: fakes, lanes: lanes) { host in
            setUp(host)
            return try await host.manager(.librarian).lend("whale")
        }
    }

    private func service(_ host: TestHost) {
        host.http.on("GET", "http://lending.test/whale", .status(200, text: "lent"))
    }

    private static let network = Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in "ran \(text)" } }

    @Test func `without a fake everything is real`() async throws {
        #expect(try await lend([:], setUp: service) == "200 lent 1 at 12")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a communication controller is replaced with its services, in both lanes`(lanes: LaneRule) async throws {
        #expect(
            try await lend([.communicationController(of: "Librarian"): Self.network], lanes: lanes)
                == "ran whale 1 at 12")
    }

    @Test func `a data access controller is replaced`() async throws {
        let kept = Recording<String>()
        let ledger = Fake(Ledger.self) { ledger in
            ledger.async(\.keep) { text, _ in
                kept.add(text)
                return 40 + kept.all.count
            }
        }
        #expect(try await lend([.dataAccessController(of: "Librarian"): ledger], setUp: service) == "200 lent 41 at 12")
        #expect(kept.all == ["200 lent"])
    }

    @Test func `a service is replaced by the property that receives it`() async throws {
        let api = Fake(LendingAPI.self) { $0.async(\.send) { text, _ in "sent \(text)" } }
        #expect(try await lend([.service("api", of: "Librarian"): api]) == "sent whale 1 at 12")
    }

    @Test(arguments: [Fake.Place.manager("ReadingClock"), .use("hours", of: "Librarian")])
    func `another manager is replaced by its name or where it is used`(place: Fake.Place) async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 3 } }
        #expect(try await lend([place: hours], setUp: service) == "200 lent 1 at 3")
    }

    @Test func `a manager that a component looks up can be added`() async throws {
        let hours = Fake(Hours.self) { $0.sync(\.now) { _, _ in 5 } }
        let answer = try await TestHost.run(
            "ClockReader", plugins: [LendingPlugin.self], fakes: [.addedManager("ReadingClock"): hours]
        ) { host in
            try await host.manager("ClockReader", as: LendingNetwork.self).run("ReadingClock")
        }
        #expect(answer == "5")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a member without a closure says so when it is called`(lanes: LaneRule) async throws {
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.manager("Librarian"): Fake(Lending.self)], lanes: lanes
        ) { host in
            let lending = try await host.manager(.librarian)
            let asynchronous = await #expect(throws: BackplaneError.self) { try await lending.lend("whale") }
            let synchronous = #expect(throws: BackplaneError.self) { try lending.count() }
            #expect(asynchronous?.code == .callUnimplemented)
            #expect(asynchronous?.message == "Fake.Lending replaces a Lending but does not implement `lend`")
            #expect(synchronous?.message == "Fake.Lending replaces a Lending but does not implement `count`")
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a contract's own error is caught with its type`(lanes: LaneRule) async throws {
        let lent = Fake(Lending.self) { lending in
            lending.async(\.lend) { book, _ in throw Lending.Failure(book: book) }
            lending.sync(\.count) { _, _ in throw Lending.Failure(book: "all") }
        }
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.manager("Librarian"): lent], lanes: lanes
        ) { host in
            let lending = try await host.manager(.librarian)
            await #expect(throws: Lending.Failure(book: "whale")) { try await lending.lend("whale") }
            #expect(throws: Lending.Failure(book: "all")) { try lending.count() }
        }
    }

    @Test func `what a closure throws arrives as a component's error does`() async throws {
        struct LendingFailure: ComponentError {
            var code: String { "api.failed" }
            var message: String { "the API has failed" }
        }
        let api = Fake(LendingAPI.self) { $0.async(\.send) { _, _ in throw LendingFailure() } }
        let error = await #expect(throws: BackplaneError.self) {
            try await lend([.service("api", of: "Librarian"): api])
        }
        #expect(
            error
                == BackplaneError(
                    .componentFailed, "the API has failed", failure: BackplaneError.Failure(code: "api.failed")))
    }
}

/// Fakes that take their time.
extension FakeTests {
    @Test func `a call that is cancelled cancels the fake that it waits for`() async throws {
        let gate = TestGate()
        let network = Fake(LendingNetwork.self) {
            $0.async(\.run) { text, _ in
                try await gate.pass()
                return text
            }
        }
        let call = Task { try await lend([.communicationController(of: "Librarian"): network]) }
        try await gate.arrivals()
        call.cancel()
        let error = await #expect(throws: BackplaneError.self) { try await call.value }
        #expect(error?.code == .callCancelled)
    }
}

/// Fakes that do not fit.
extension FakeTests {
    private func refusal(_ fakes: [Fake.Place: Fake]) async -> String {
        let error = await #expect(throws: ManifestRefused.self) { try await lend(fakes) }
        return error?.description ?? ""
    }

    @Test func `one that provides another contract is the manifest's problem`() async {
        #expect(
            await refusal([.communicationController(of: "Librarian"): Fake(Hours.self)]) == """
                there is a problem with the manifest
                  /managers/Librarian/communicationController/className: wire.mismatch: `Librarian` 1.0.0 of plugin `org.example.lending` asks for `LendingNetwork` 1.0.0 \
                as `communicationController`, but `Fake.Hours` 1.0.0 of plugin `org.backplane.testkit.fakes` provides `Hours` 1.0.0
                """)
    }

    @Test func `an unused fake is a problem of the manifest, and all problems are reported at once`() async {
        let text = await refusal([
            .use("moon", of: "Librarian"): Fake(Hours.self), .service("drum", of: "Librarian"): Fake(LendingAPI.self),
        ])
        #expect(text.hasPrefix("there are 2 problems with the manifest\n"), "\(text)")
        #expect(text.contains("declares no wire `moon`") && text.contains("has no property `drum`"), "\(text)")
    }

    @Test(arguments: [
        (
            [Fake.Place.dataAccessController(of: "Libarian")],
            "manager.unknown: a fake replaces the data access controller of `Libarian`, but the manifest has no manager `Libarian`; it has `Librarian`, `ReadingClock`"
        ),
        (
            [.manager("OtherClock")],
            "manager.unknown: a fake replaces the manager `OtherClock`, but the manifest has no manager `OtherClock`; it has `Librarian`, `ReadingClock`"
        ),
        (
            [.addedManager("ReadingClock")],
            "wire.mismatch: a fake replaces the added manager `ReadingClock`, but the manifest already has a manager of that name; `.manager(\"ReadingClock\")` replaces it"
        ),
        (
            [.dataAccessController],
            "manager.unknown: a fake replaces the data access controller, but the manifest has 2 managers; choose the manager with `of:`"
        ),
        (
            [.service("api", of: "ReadingClock")],
            "manifest.missing-key: a fake replaces the service `api` of `ReadingClock`, which has no communication controller to receive it"
        ),
    ])
    func `a place that is not there is an error that says what is`(places: [Fake.Place], words: String) async {
        let fakes = Dictionary(uniqueKeysWithValues: places.map { ($0, Fake(LendingAPI.self)) })
        let error = await #expect(throws: BackplaneError.self) { try await lend(fakes) }
        #expect(error?.description == words)
    }

    @Test func `two fakes for one place are an error`() async {
        let error = await #expect(throws: BackplaneError.self) {
            try await TestHost.run(
                "Librarian", plugins: [LendingPlugin.self],
                fakes: [
                    .communicationController: Self.network, .communicationController(of: "Librarian"): Self.network,
                ]
            ) { try await $0.manager(.librarian).lend("whale") }
        }
        #expect(
            error?.description
                == "wire.mismatch: two fakes replace the communication controller of `Librarian`; remove one of them")
    }
}
