import Foundation
import Testing

@testable import BackplaneBench

@Suite struct RowResultTests {
    private let samples = ["direct": Sample([40, 54, 60]), "row": Sample([81, 81, 81]), "idle": Sample([0, 0, 0])]

    private func result(_ row: Row) throws -> RowResult {
        try #require(RowResult(row, in: "suite", samples, reference: "direct"))
    }

    @Test(
        arguments: [
            (.ratio(atMost: 1.5), 1.5, true), (.ratio(atMost: 1.49), 1.49, false), (.ratio(atLeast: 1.5), 1.5, true),
            (.ratio(atLeast: 1.51), 1.51, false),
            (.median(atMost: 81), 81, true), (.median(atMost: 80), 80, false), (.scaledMedian(atMost: 40.5), 81, true),
            (.scaledMedian(atMost: 40), 80, false),
        ] as [(Target, Double, Bool)])
    func `a bound is kept or not, on its side and for what it bounds`(target: Target, bound: Double, met: Bool) throws {
        let result = try result(.canned("row", baseline: "direct", target: target))
        #expect(result.median == 81)
        #expect(result.ratio == 1.5)
        #expect(result.target == bound)
        #expect(result.met == met)
    }

    @Test func `what must not happen did happen when it did in one round`() throws {
        var row = Row.canned("once", target: .median(atMost: 0))
        row.summary = .highest
        let result = try #require(RowResult(row, in: "suite", ["once": Sample([0, 0, 1, 0, 0])], reference: nil))
        #expect(result.median == 1 && result.met == false)
    }

    @Test func `without what it is compared with nothing is said of a bound`() throws {
        let unmeasured = try result(.canned("row", baseline: "unmeasured", target: .ratio(atMost: 1.5)))
        #expect(unmeasured.ratio == nil && unmeasured.target == 1.5 && unmeasured.met == nil)
        let idle = try result(.canned("row", baseline: "idle", target: .ratio(atMost: 1.5)))
        #expect(idle.ratio == nil && idle.met == nil, "nothing is a multiple of nothing")
        let unscaled = try #require(
            RowResult(.canned("row", target: .scaledMedian(atMost: 80)), in: "suite", samples, reference: nil))
        #expect(unscaled.target == nil && unscaled.met == nil)
        #expect(RowResult(.canned("unmeasured"), in: "suite", samples, reference: nil) == nil)
    }

    @Test func `as JSON it has every key, and null where one does not apply`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        #expect(
            String(decoding: try encoder.encode(result(.canned("direct"))), as: UTF8.self)
                == #"{"baseline":null,"median":54,"met":null,"name":"direct","ratio":null,"spread":5,"suite":"suite","target":null,"unit":"ns"}"#
        )
        #expect(
            String(
                decoding: try encoder.encode(
                    result(.canned("row", unit: .microseconds, baseline: "direct", target: .ratio(atLeast: 1.6)))),
                as: UTF8.self)
                == #"{"baseline":"direct","median":81,"met":false,"name":"row","ratio":1.5,"spread":0,"suite":"suite","target":1.6,"unit":"µs"}"#
        )
    }
}
