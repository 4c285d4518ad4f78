import Testing

@testable import BackplaneBench

@Suite struct SelectionTests {
    private let rows: [Row] = [
        .canned("direct call"), .canned("native call", baseline: "direct call", target: .ratio(atMost: 1.3)),
        .canned("direct actor"), .canned("native Actor", baseline: "direct actor"),
        .canned("look-up", target: .scaledMedian(atMost: 80)), .canned("wiring", target: .median(atMost: 100)),
    ]

    @Test(
        arguments: [
            (nil, ["direct call", "native call", "direct actor", "native Actor", "look-up", "wiring"]),
            ("native call", ["direct call", "native call"]), ("ACTOR", ["direct actor", "native Actor"]),
            ("native actor", ["direct actor", "native Actor"]),
            ("look", ["direct call", "look-up"]), ("wiring", ["wiring"]), ("direct", ["direct call", "direct actor"]),
            ("nothing", []),
        ] as [(String?, [String])])
    func `rows come with what their targets need, in the order of the suite`(text: String?, names: [String]) {
        #expect(Selection.rows(rows, matching: text, reference: "direct call").map(\.name) == names)
    }

    @Test(
        arguments: [("native", ["native call", "native Actor"]), ("look", ["look-up"]), (nil, nil)]
            as [(String?, [String]?)])
    func `matches are those rows alone`(text: String?, names: [String]?) {
        #expect(Selection.matches(rows, text).map(\.name) == names ?? rows.map(\.name))
    }
}
