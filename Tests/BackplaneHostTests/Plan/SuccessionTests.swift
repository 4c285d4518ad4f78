import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
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

/// What a manifest may say that its definitions were called before.
struct FormerNameTests {
    private static let store = ContractDescription.of("Store")
    private static let catalogue = Catalogue(plugins: [
        .manager("Library", wires: [.to("dataAccessController", store, optional: true)]),
        .dataAccess("Books", provides: store), .dataAccess("Shelves", provides: store),
    ])

    private static func library(_ members: [String: ManifestValue] = [:]) -> ManifestValue {
        .dictionary(members.merging(["className": "Library"]) { first, _ in first })
    }

    private static func controlled(_ controller: ManifestValue) -> ManifestValue {
        library(["dataAccessController": controller])
    }

    private static let mistakes: [(managers: ManifestValue, places: [String], words: String)] = [
        (
            ["A": library(), "B": library(["was": "A"])], ["/managers/B/was"],
            "`was` names `A`, which this manifest still has as a manager; remove `was`, or give the other one another name"
        ),
        (
            ["A": library(["was": "A"])], ["/managers/A/was"],
            "`was` names `A`, which this manifest still has as a manager; remove `was`, or give the other one another name"
        ),
        (
            ["A": library(["was": "Z"]), "B": library(["was": "Z"])], ["/managers/A/was", "/managers/B/was"],
            "`Z` can be continued by only one definition, but `A`, `B` name it in `was`; keep one of them"
        ),
        (
            [
                "A": controlled(["className": "Books"]),
                "B": controlled(["className": "Shelves", "was": "Books"]),
            ], ["/managers/B/dataAccessController/was"],
            "`was` names `Books`, which this manifest still has as the folder of a data access controller; remove `was`, or give the other one another name"
        ),
        (
            [
                "A": controlled(["className": "Books", "was": "Z"]),
                "B": controlled(["className": "Shelves", "was": "Z"]),
            ], ["/managers/A/dataAccessController/was", "/managers/B/dataAccessController/was"],
            "`Z` can be continued by only one definition, but `A`, `B` name it in `was`; keep one of them"
        ),
        (
            ["A": controlled(["className": "Books", "was": "a/b"])], ["/managers/A/dataAccessController/was"],
            "`a/b` is not usable as a folder name; set a `namespace` of letters and digits"
        ),
        (
            ["A": controlled(["className": "Books", "was": "@host"])], ["/managers/A/dataAccessController/was"],
            "`@host` begins with `@`, which is reserved for namespaces of the host; choose another name"
        ),
        (["A": library(["was": 1])], ["/managers/A/was"], "expected a string, found an integer"),
        (["A": library(["was": ""])], ["/managers/A/was"], "`was` is empty"),
    ]

    @Test(arguments: mistakes)
    func `a former name that cannot be followed is an error in its place`(
        managers: ManifestValue, places: [String], words: String
    ) {
        let problems = Resolution(managers, Self.catalogue).problems
        #expect(problems.map(\.error.location) == places)
        #expect(problems.allSatisfy { $0.severity == .error && $0.error.message == words }, "\(problems)")
    }

    @Test func `managers that share a controller may both say what it was`() {
        let controller: ManifestValue = ["className": "Shelves", "was": "Books"]
        let resolution = Resolution(
            ["A": Self.controlled(controller), "B": Self.controlled(["className": "Shelves"])], Self.catalogue)
        #expect(resolution.problems == [])
        #expect(resolution.plan.nodes.filter { $0.namespace != nil }.map(\.was) == ["Books"])
        let both = Resolution(["A": Self.controlled(controller), "B": Self.controlled(controller)], Self.catalogue)
        #expect(both.problems == [])
    }

    @Test func `a plain Nemo Logic manifest has no such key`() {
        let document = ManifestDocument(["A": ["className": "Library", "was": "Z"]])
        #expect(document.manifest.managers["A"]?.was == nil)
        #expect(document.problems.map(\.severity) == [.warning])
    }
}

/// What tools are notified of a host that runs nothing.
@Suite(.timeLimit(.minutes(10)))
struct CompositionTests {
    /// A host of one of the example's manifests.
    private func host(_ manifest: String, _ folder: TestFolder, lanes: LaneRule = .fastest) -> PluginHost {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return PluginHost(
            manifest: ManifestDocument(contentsOf: "/\(root)/manifests/\(manifest)"),
            options: HostOptions(
                pluginPaths: [BuiltProducts.folder], loadFolder: folder.path + "/loads",
                dataFolder: folder.path + "/data", lanes: lanes))
    }

    @Test(arguments: ["almanac.json", "bookshelf.json", "bookshelf-both.json"], [LaneRule.fastest, .encoded])
    func `The lanes it foretells are those that the wires take`(manifest: String, lanes: LaneRule) async throws {
        let folder = try TestFolder()
        let host = host(manifest, folder, lanes: lanes)
        let composition = await host.composition()
        let foretold = composition.wires.map(\.status)
        #expect(await host.wires.isEmpty, "nothing was started")
        try await host.start()
        let taken = await host.wires
        await host.stop()
        #expect(!foretold.isEmpty && foretold.count == taken.count)
        #expect(Set(foretold) == Set(taken))
    }

    @Test func `A manifest that cannot be read composes nothing`() async {
        let document = ManifestDocument(parsing: Data("{".utf8), path: "half.json")
        let composition = await PluginHost(manifest: document).composition()
        #expect(composition.isEmpty && composition.managerNames == [])
        #expect(composition.unknownManager("A").message == "no manager is named `A`; there are none")
        #expect(composition.unknownManager("A").causes.map(\.code) == [.manifestMalformed])
    }
}
