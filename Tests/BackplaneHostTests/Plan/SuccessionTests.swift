import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// Which components of one manifest continue those of another.
struct SuccessionTests {
    private static let api = ContractDescription.of("API")
    private static let catalogue = Catalogue(plugins: [
        .manager("Library"), .dataAccess("Books"), .dataAccess("Shelves"),
        .communication(
            "Network", wires: [.to("first", api, optional: true), .to("second", api, optional: true)]),
        .service("Covers", provides: api), .service("Reviews", provides: api),
    ])

    /// The names of the earlier nodes, by the names of those that continue them.
    private func successors(_ old: ManifestValue, _ new: ManifestValue) throws -> [String: String] {
        let plans = [old, new].map { Resolution($0, Self.catalogue).plan }
        #expect(plans.allSatisfy { $0.faults.isEmpty }, "\(plans.map(\.faults))")
        let succession = Succession(from: plans[0], to: plans[1])
        for (new, old) in succession.before.enumerated() {
            if let old { #expect(succession.after[old] == new) }
        }
        func name(_ node: Plan.Node) -> String {
            node.role == .manager ? node.name : "\(node.managers[0])/\(node.name)"
        }
        return Dictionary(
            uniqueKeysWithValues: plans[1].nodes.compactMap { node in
                succession.before[node.id].map { (name(node), name(plans[0].nodes[$0])) }
            })
    }

    private static func library(_ members: [String: ManifestValue] = [:]) -> ManifestValue {
        .dictionary(members.merging(["className": "Library"]) { first, _ in first })
    }

    @Test func `a manager continues the one of its name, whatever its class`() throws {
        #expect(try successors(["A": Self.library()], ["A": Self.library()]) == ["A": "A"])
        #expect(try successors(["A": Self.library()], ["B": Self.library()]) == [:])
    }

    @Test func `a manager continues the one whose name it had, and an earlier manifest the one that has its name`()
        throws
    {
        let (before, after): (ManifestValue, ManifestValue) = (
            ["A": Self.library()], ["B": Self.library(["was": "A"])]
        )
        #expect(try successors(before, after) == ["B": "A"])
        #expect(try successors(after, before) == ["A": "B"])
        #expect(
            try successors(["A": Self.library(), "B": Self.library()], after) == ["B": "B"],
            "one that is there already is not renamed again")
    }

    @Test func `a data access controller goes by its namespace, its former one, and then by its manager`() throws {
        func controlled(_ name: String, _ controller: ManifestValue) -> ManifestValue {
            .dictionary([name: Self.library(["dataAccessController": controller])])
        }
        let books = controlled("A", ["className": "Books"])
        #expect(try successors(books, controlled("B", ["className": "Books"])) == ["B/Books": "A/Books"])
        #expect(
            try successors(books, controlled("B", ["className": "Shelves", "was": "Books"])) == [
                "B/Shelves": "A/Books"
            ])
        #expect(
            try successors(books, controlled("A", ["className": "Shelves"])) == ["A": "A", "A/Shelves": "A/Books"])
        #expect(
            try successors(controlled("A", ["className": "Shelves", "was": "Books"]), books) == [
                "A": "A", "A/Books": "A/Shelves",
            ])
    }

    @Test func `of two that shared a service the one that did not change continues it`() throws {
        func manager(_ name: String, size: Int) -> (String, ManifestValue) {
            (
                name,
                Self.library([
                    "communicationController": [
                        "className": "Network",
                        "services": [
                            [
                                "className": "Covers", "propertyName": "first",
                                "networkServiceConfiguration": ["size": .integer(Int64(size))],
                            ]
                        ],
                    ]
                ])
            )
        }
        func managers(_ a: Int, _ b: Int) -> ManifestValue {
            .dictionary(Dictionary(uniqueKeysWithValues: [manager("A", size: a), manager("B", size: b)]))
        }
        #expect(try successors(managers(1, 1), managers(2, 1))["B/Covers"] == "A/Covers")
        #expect(try successors(managers(1, 1), managers(2, 2))["A/Covers"] == "A/Covers")
    }

    @Test func `services go by their property, and then by their class, and follow a renamed manager`() throws {
        func services(_ name: String, was: String? = nil, _ services: [(String, String)]) -> ManifestValue {
            var members: [String: ManifestValue] = [
                "communicationController": [
                    "className": "Network",
                    "services": .array(
                        services.map { ["className": .string($0.0), "propertyName": .string($0.1)] }),
                ]
            ]
            members["was"] = was.map { .string($0) }
            return .dictionary([name: Self.library(members)])
        }
        let covers = services("A", [("Covers", "first")])
        #expect(
            try successors(covers, services("B", was: "A", [("Reviews", "first"), ("Covers", "second")])) == [
                "B": "A", "B/Network": "A/Network", "B/Reviews": "A/Covers",
            ])
        #expect(
            try successors(covers, services("A", [("Covers", "second")]))["A/Covers"] == "A/Covers")
    }
}
