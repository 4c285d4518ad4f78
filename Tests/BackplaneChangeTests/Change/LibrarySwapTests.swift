import Backplane
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Libraries that take one another's place under calls.
@Suite(.timeLimit(.minutes(5)))
struct LibrarySwapTests {
    private static let swift = ["Turnstile1", "Turnstile2"],
        c = ["TurnstileInC1", "TurnstileInC2"]

    @Test(arguments: [(LaneRule.fastest, swift), (.encoded, swift), (.fastest, c)])
    func `of the calls under dozens of swaps none is lost, made twice or answered by the wrong code`(
        lanes: LaneRule, libraries: [String]
    ) async throws {
        let editions = try libraries.map(TurnstileFixture.built)
        let fixture = try await TurnstileFixture(editions[0], lanes: lanes), swaps = 24
        #expect(await fixture.host.wires.map { $0.lane == .native } == [lanes == .fastest && libraries == Self.swift])
        let (reports, visits) = try await TurnstileVisitors.with(fixture.turnstile) {
            var reports: [ChangeReport] = []
            for number in 1...swaps {
                reports.append(try await fixture.swap(editions[number % 2]))
                #expect(try await fixture.turnstile.pass(0).handovers == number)
            }
            return reports
        }
        #expect(reports.map(\.outcome) == Array(repeating: .changed, count: swaps))
        #expect(visits.flatMap(\.mistakes) == [])
        #expect(visits.allSatisfy { $0.last != nil }, "all of them came to pass")
        let final = try await fixture.turnstile.pass(0)
        #expect(final.own == swaps + 1)
        #expect(
            final.count == final.own + visits.reduce(0) { $0 + ($1.last?.own ?? 0) },
            "the count that was carried is the sum of what each counted")
        await fixture.host.stop()
    }

    @Test func `from Swift to C and back the lane changes with the code, and the state goes along`() async throws {
        let fixture = try await TurnstileFixture(), first = try TurnstileFixture.built("Turnstile1")
        #expect(try await fixture.turnstile.pass(7).own == 1)
        let there = try await fixture.swap(TurnstileFixture.culprit())
        #expect(there.wires.map { [$0.fromLane, $0.toLane] } == [["native", "encoded"]])
        #expect(try await fixture.turnstile.pass(7).edition == 3)
        let back = try await fixture.swap(first)
        #expect(back.wires.map { [$0.fromLane, $0.toLane] } == [["encoded", "native"]])
        #expect(
            try await fixture.turnstile.pass(7) == Ticket(edition: 1, handovers: 1, count: 2, own: 2),
            "the culprit counts nobody")
        await fixture.host.stop()
    }
}
