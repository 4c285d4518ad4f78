import Foundation
import TestFixtures
import Testing

@testable import BackplaneOperations

/// All small graphs, and everything that can happen to them: a sample every night, and all with `make exhaustive`.
@Suite(.nightly, .timeLimit(.minutes(60)))
struct ExhaustiveTests {
    private static let isSample = ProcessInfo.processInfo.environment["BACKPLANE_EXHAUSTIVE"] == nil

    /// Returns a graph of a number of nodes, with an edge of some kind or none between each pair.
    private static func edges(_ count: Int, _ kinds: [EdgeKind], number: Int) -> [GraphShape.Edge] {
        var edges: [GraphShape.Edge] = [], rest = number
        for to in 0..<count {
            for from in 0..<to {
                let choice = rest % (kinds.count + 1)
                rest /= kinds.count + 1
                if choice > 0 { edges.append(.init(from: Int32(from), to: Int32(to), kind: kinds[choice - 1])) }
            }
        }
        return edges
    }

    private static func search(_ count: Int, _ kinds: [EdgeKind], _ scenario: GraphSearch.Scenario) throws -> Int {
        let pairs = count * (count - 1) / 2
        let graphs = (0..<pairs).reduce(1) { product, _ in product * (kinds.count + 1) }
        var states = 0
        // Of many graphs, the sample is the one with the most edges, in which the least can happen.
        let isPart = isSample && graphs > 1_000
        for number in stride(from: isPart ? graphs - 1 : 0, to: graphs, by: 1) {
            var search = GraphSearch(count, edges(count, kinds, number: number), scenario)
            try search.run()
            states += search.states
        }
        return states
    }

    @Test(arguments: GraphSearch.Scenario.all)
    func `all graphs of up to 4 nodes with edges of all kinds keep the invariants`(
        scenario: GraphSearch.Scenario
    ) throws {
        for count in 1...4 {
            let states = try Self.search(count, EdgeKind.allCases, scenario)
            #expect(states > 0)
        }
    }

    @Test(arguments: GraphSearch.Scenario.all.prefix(3))
    func `all graphs of 5 nodes with plain edges keep the invariants`(scenario: GraphSearch.Scenario) throws {
        #expect(try Self.search(5, [.plain], scenario) > 0)
    }
}
