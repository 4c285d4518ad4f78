import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

struct ExplanationTests {
    private func tree(_ manager: String, in composition: Composition = .books, _ pen: Tree.Pen = .boxes) throws
        -> String
    {
        try Explanation(of: manager, in: composition).tree(in: "example.json").lines(pen, colour: false).joined(
            separator: "\n") + "\n"
    }

    @Test func `of a sound manager it says what was chosen, passed over and shared, and which lanes its wires take`()
        throws
    {
        try expectSnapshot(try tree("LibraryManager"), "explain-sound")
    }

    @Test func `of one that cannot be created it says why, down to where that begins`() throws {
        try expectSnapshot(try tree("Very upset"), "explain-unsatisfied")
    }

    @Test func `of one with routes it lists them`() throws {
        #expect(
            try tree("LibraryRoutes", in: .routes, .ascii).hasSuffix(
                """
                   `- routes
                      |- GET /books/:id
                      `- GET /changes

                """))
    }

    @Test func `of one with screens it lists them with their inputs`() throws {
        #expect(
            try tree("BookScreens", in: .screens, .ascii).hasSuffix(
                """
                   `- screens
                      |- books.list
                      `- books.page {"book": string, "page": integer?}

                """))
    }

    @Test func `a manager that was read with errors has its reasons and no components`() throws {
        let composition = Composition(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"A": {"className": "", "dataAccessController": {}}, "B": 3}}"#,
            [])
        let explanation = try Explanation(of: "A", in: composition)
        #expect(explanation.state == .unsatisfied && explanation.components.isEmpty)
        #expect(explanation.reasons.map(\.code) == ["manifest.missing-key", "manifest.missing-key"])
        #expect(explanation.reasons.allSatisfy { $0.place.line == 1 && $0.place.column != nil })
        #expect(try Explanation(of: "B", in: composition).reasons.map(\.code) == ["manifest.wrong-type"])
    }

    @Test(
        arguments: [
            (
                "Service", nil, "the highest of 4 that fit; of 2 equal ones, the one of the earliest plugin",
                ["a lower version", "from a later plugin", "a lower version", "a manager, not a network service"]
            ),
            (
                "Service", "[1,2)", "the highest of 2 that fit",
                ["not in [1.0.0,2.0.0)", "not in [1.0.0,2.0.0)", "a lower version", "a manager, not a network service"]
            ),
            (
                "Service", "[1.1]", "the only one that fits",
                ["not in [1.1.0]", "not in [1.1.0]", "not in [1.1.0]", "a manager, not a network service"]
            ),
            (
                "Service", "[3,)", "none fits",
                [
                    "not in [3.0.0,)", "not in [3.0.0,)", "not in [3.0.0,)", "not in [3.0.0,)",
                    "a manager, not a network service",
                ]
            ),
            ("Nothing", nil, "no plugin registers it", []),
        ] as [(String, String?, String, [String])])
    func `why a version was chosen, and why the others were not`(
        name: String, range: String?, why: String, passedOver: [String]
    ) throws {
        func plugin(_ id: String, _ versions: [Version], _ role: Role = .networkService) -> ExamplePlugin {
            ExamplePlugin(
                id: id, version: "1.0.0",
                components: versions.map { ComponentDescription(role: role, className: "Service", version: $0) })
        }
        let composition = Composition(
            "{}",
            [plugin("a", ["1.1.0", "2.0.0"]), plugin("b", ["1.2.0", "2.0.0"]), plugin("c", ["1.0.0"], .manager)])
        let definition = ComponentDefinition(
            className: name, version: try range.map { text throws(BackplaneError) in try VersionRange(text) })
        let address = ComponentAddress(manager: "M", role: .networkService, property: "x")
        let choice = VersionChoice(PlacedDefinition(definition, at: address), in: composition)
        #expect(choice.why == why)
        #expect(choice.passedOver.map(\.because).sorted() == passedOver.sorted())
    }

    @Test func `as JSON it has the same, and the lanes' reasons`() throws {
        let data = try JSONEncoder().encode(Explanation(of: "LibraryManager", in: .books))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["state"] as? String == "resolved")
        let components = try #require(object["components"] as? [[String: Any]])
        let chosen = try components.map { try #require($0["component"] as? [String: Any]) }
        #expect(chosen.map { $0["version"] as? String } == ["1.0.0", "1.0.0", "1.0.0", "2.1.0"])
        #expect(chosen.map { $0["streams"] as? [String] } == [nil, nil, nil, ["events", "text"]])
        let wires = try #require(components[0]["wires"] as? [[String: Any]])
        #expect(
            wires.compactMap { $0["reason"] as? String } == [
                "plugin `org.example.clock` does not use the Swift SDK"
            ])
    }
}
