import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

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
