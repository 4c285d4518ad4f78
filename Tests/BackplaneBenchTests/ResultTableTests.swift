import TestFixtures
import Testing

@testable import BackplaneBench
@testable import BackplaneTerminal

@Suite struct ResultTableTests {
    private let rows: [Row] = [
        .canned("direct call"), .canned("native call", baseline: "direct call", target: .ratio(atMost: 1.3)),
        .canned("direct, 8 callers", unit: .times),
        .canned("native, 8 callers", unit: .times, baseline: "direct, 8 callers", target: .ratio(atLeast: 0.9)),
        .canned("coders", unit: .microseconds), .canned("encoded call", unit: .microseconds, baseline: "coders"),
        .canned("look-up", target: .scaledMedian(atMost: 80)),
        .canned("wiring", unit: .milliseconds, target: .median(atMost: 100)),
        .canned("allocations", unit: .allocations, target: .median(atMost: 0)),
    ]
    private let samples = [
        "direct call": [26.6, 27, 27.96], "native call": [32.1, 32.4, 33], "direct, 8 callers": [1.9, 1.951, 2],
        "native, 8 callers": [0.7, 0.704, 0.71],
        "coders": [9_960, 9_994.6, 10_001], "encoded call": [12_100, 12_345.6, 12_400],
        "look-up": [79.94, 79.96, 80.1], "wiring": [99.94, 99.96, 101.4], "allocations": [0, 0, 0],
    ].mapValues(Sample.init)

    private var results: [RowResult] {
        rows.compactMap { RowResult($0, in: "suite", samples, reference: "direct call") }
    }

    @Test func `figures stand under each other and bounds have their side`() throws {
        let lines = ResultTable.lines(results, colour: false) + ["", ResultTable.summary(results, rounds: 3)]
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "bench-table")
    }

    @Test func `colour changes nothing but the colour`() {
        let plain = ResultTable.lines(results, colour: false), coloured = ResultTable.lines(results, colour: true)
        #expect(coloured.map { $0.replacing(#/\u{1B}\[\d+m/#, with: "") } == plain)
        #expect(
            coloured.map { $0.contains("\u{1B}[31m") } == [
                false, false, false, false, true, false, false, false, false, false,
            ], "red is what was missed")
        #expect(
            coloured.map { $0.contains("\u{1B}[32m") } == [
                false, false, true, false, false, false, false, true, true, true,
            ])
    }

    @Test func `with no bound in it a table says nothing of targets`() {
        #expect(!ResultTable.summary(results.filter { $0.met == nil }, rounds: 1).contains("target"))
    }

    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true),
            (true, ["TERM": "dumb"], false),
            (true, ["TERM": "xterm"], true),
        ] as [(Bool, [String: String], Bool)])
    func `colour is for terminals whose user did not refuse it`(
        isTerminal: Bool, environment: [String: String], wanted: Bool
    ) {
        #expect(Terminal.wantsColour(isTerminal: isTerminal) { environment[$0] } == wanted)
    }
}
