import Backplane
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneExchange
@testable import BackplaneTools

/// The limits of hosts, as `stats` shows them.
struct LimitTableTests {
    @Test func `a row for each host has what runs, waits and was refused, and the breaker`() throws {
        let table = try #require(
            StatisticsTable.limits([
                LimitStatistics(host: "books.example.org:443", running: 4, waiting: 12, refused: 0),
                LimitStatistics(
                    host: "covers.example.org:443", running: 0, waiting: 0, refused: 3, breaker: "open",
                    nextProbe: .milliseconds(12_340)),
                LimitStatistics(host: "[::1]:8080", running: 1, waiting: 0, refused: 0, breaker: "closed"),
            ]))
        try expectSnapshot(table.lines(colour: false).joined(separator: "\n") + "\n", "stats-limits")
        #expect(StatisticsTable.limits([]) == nil)
    }
}
