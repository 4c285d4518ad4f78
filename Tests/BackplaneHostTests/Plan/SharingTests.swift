import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import Testing

@testable import BackplaneHost

struct `Sharing components` {
    static let api = ContractDescription.of("API")
    let catalogue = Catalogue(
        plugins: [
            .manager(
                "M",
                wires: [
                    .to("dataAccessController", api, optional: true),
                    .to("communicationController", api, optional: true),
                ]),
            .dataAccess("D", "1.0.0", provides: api), .dataAccess("D", "2.0.0", provides: api),
            .communication("C", provides: api, wires: [.to("a", api, optional: true), .to("b", api, optional: true)]),
            .service("S", provides: api),
        ])

    private func manager(data: ManifestValue? = nil, services: [ManifestValue]? = nil) -> ManifestValue {
        var definition: [String: ManifestValue] = ["className": "M"]
        definition["dataAccessController"] = data
        definition["communicationController"] = services.map { ["className": "C", "services": .array($0)] }
        return .dictionary(definition)
    }

    private func service(_ property: String, _ configuration: ManifestValue? = nil) -> ManifestValue {
        var definition: [String: ManifestValue] = ["className": "S", "propertyName": .string(property)]
        definition["networkServiceConfiguration"] = configuration
        return .dictionary(definition)
    }

    @Test func `Equal data access controllers are one, however they are spelled`() throws {
        let plan = Resolution(
            [
                "A": manager(data: ["className": "D", "configuration": ["x": 1, "y": 2.0]]),
                "B": manager(data: [
                    "className": "D", "version": "[2,)", "configuration": ["y": 2, "x": 1.0], "namespace": "D",
                ]),
            ], catalogue
        ).plan
        #expect(plan.classNames == ["D", "M", "M"])
        #expect(plan.nodes[0].managers == ["A", "B"])
        #expect(plan.nodes[0].namespace == "D")
        #expect(plan.nodes[0].location == "/managers/A/dataAccessController")
        #expect(plan.nodes[0].configuration == Data(#"{"x":1,"y":2}"#.utf8))
        #expect(plan.nodes.map { $0.wires.map(\.provider) } == [[], [0], [0]])
        #expect(try plan.nodes(neededBy: "B").map(\.id) == [0, 2])
        try plan.checkInvariants()
    }

    @Test(
        arguments: [
            ["className": "D", "configuration": ["x": 2], "namespace": "other"],
            ["className": "D", "version": "[1,2)", "namespace": "other"],
            ["className": "D", "namespace": "other"],
        ] as [ManifestValue])
    func `Another configuration, version or namespace is another one`(other: ManifestValue) throws {
        let resolution = Resolution(["A": manager(data: ["className": "D"]), "B": manager(data: other)], catalogue)
        #expect(resolution.problems.isEmpty)
        #expect(resolution.plan.classNames == ["D", "M", "D", "M"])
        #expect(resolution.plan.nodes.map(\.namespace) == ["D", nil, "other", nil])
    }

    @Test func `Different ones in one folder are errors at each definition`() {
        let resolution = Resolution(
            [
                "A": manager(data: ["className": "D"]),
                "B": manager(data: ["className": "D", "configuration": ["x": 1]]), "C": manager(),
            ], catalogue)
        let words =
            "component.folder-shared: `D` would share the folder `D` with a different data access controller; "
            + "set `namespace` for one of `A`, `B`, or make them equal"
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A/dataAccessController: \(words)",
                "error B /managers/B/dataAccessController: \(words)",
            ])
        #expect(resolution.plan.managers.keys.sorted() == ["C"])
    }

    @Test func `Equal services are one, within a communication controller and across`() throws {
        let plan = Resolution(
            [
                "A": manager(services: [service("b"), service("a")]), "B": manager(services: [service("a", [:])]),
                "C": manager(services: [service("a", ["url": "x"])]),
            ], catalogue
        ).plan
        #expect(plan.classNames == ["S", "C", "M", "C", "M", "S", "C", "M"])
        #expect(plan.nodes[1].wires == [Plan.Link(label: "b", provider: 0), Plan.Link(label: "a", provider: 0)])
        #expect(plan.nodes[3].wires == [Plan.Link(label: "a", provider: 0)])
        #expect(plan.nodes[6].wires == [Plan.Link(label: "a", provider: 5)])
        #expect(plan.nodes[0].managers == ["A", "B"])
        #expect(plan.nodes[0].location == "/managers/A/communicationController/services/0")
        try plan.checkInvariants()
    }

    @Test func `Services are created in the order of the array`() {
        let plan = Resolution(["A": manager(services: [service("b", ["n": 1]), service("a", ["n": 2])])], catalogue)
            .plan
        #expect(
            plan.nodes.map { String(decoding: $0.configuration, as: UTF8.self) } == [
                #"{"n":1}"#, #"{"n":2}"#, "{}", "{}",
            ])
    }

    @Test func `What only a faulty manager needs is not created`() {
        let faulty: ManifestValue = ["className": "Nowhere", "dataAccessController": ["className": "D"]]
        #expect(Resolution(["A": faulty, "B": manager()], catalogue).plan.classNames == ["M"])
    }
}
