import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

struct `Choosing a component from the catalogue` {
    let catalogue = Catalogue(
        plugins: [.service("Books", "1.0.0"), .service("Books", "2.1.0"), .manager("Books", "9.0.0")],
        [.service("Books", "2.1.0"), .service("Books", "3.0.0"), .service("Clock")])

    @Test(
        arguments: [
            (nil, "3.0.0", 1), ("[1.0,2.0)", "1.0.0", 0), ("[2.0,3.0)", "2.1.0", 0), ("[1,)", "3.0.0", 1),
            ("[2.1]", "2.1.0", 0),
        ] as [(String?, Version, Int)])
    func `The highest version that fits is taken, of equal ones that of the first plugin`(
        range: String?, version: Version, order: Int
    ) throws {
        let best = try #require(
            try catalogue.best("Books", as: .networkService, in: range.map { try VersionRange($0) }))
        #expect(best.component.version == version)
        #expect(best.order == order)
    }

    @Test func `Another role, another name and a range without a version give nothing`() throws {
        #expect(catalogue.best("Books", as: .communicationController) == nil)
        #expect(catalogue.best("books", as: .networkService) == nil)
        #expect(catalogue.best("Books", as: .networkService, in: "[4,)") == nil)
    }

    @Test func `All of a class are listed, the best first`() {
        #expect(
            catalogue.entries(named: "Books").map(\.component.version) == ["9.0.0", "3.0.0", "2.1.0", "2.1.0", "1.0.0"])
        #expect(catalogue.entries(named: "Books").map(\.order) == [0, 1, 0, 1, 0])
        #expect(catalogue.classNames(as: .networkService) == ["Books", "Clock"])
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Classes of a manifest` {
    let catalogue = Catalogue(
        plugins: [
            .manager("LibraryManager"), .manager("ClockManager"), .dataAccess("BookStore"), .service("Books", "1.0.0"),
        ], [.service("Books", "2.1.0")])

    @Test(
        arguments: [
            (
                ["className": "LibaryManager"],
                "/className: component.unknown-class: no plugin registers a class `LibaryManager`; did you mean `LibraryManager`?"
            ),
            (
                ["className": "Zoo"],
                "/className: component.unknown-class: no plugin registers a class `Zoo`; registered as a manager: `ClockManager`, `LibraryManager`"
            ),
            (
                ["className": "BookStore"],
                "/className: component.wrong-role: `BookStore` 1.0.0 of plugin `org.p0` is a data access controller, not a manager"
            ),
            (
                ["className": "LibraryManager", "version": "[2,)"],
                "/version: component.version-out-of-range: no version of `LibraryManager` is in [2.0.0,); registered: 1.0.0 (plugin `org.p0`)"
            ),
            (
                ["className": "ClockManager", "communicationController": ["className": "X"]],
                "/communicationController/className: component.unknown-class: no plugin registers a class `X`; none registers a communication controller"
            ),
            (
                ["className": "ClockManager", "dataAccessController": ["className": "Books"]],
                "/dataAccessController/className: component.wrong-role: `Books` 2.1.0 of plugin `org.p1` is a network service, not a data access controller"
            ),
            (
                ["className": "ClockManager", "dataAccessController": ["className": "../x"]],
                "/dataAccessController/namespace: manifest.wrong-type: `../x` is not usable as a folder name; set a `namespace` of letters and digits"
            ),
        ] as [(ManifestValue, String)])
    func `One that cannot be had is located and says what there is`(definition: ManifestValue, problem: String) {
        let resolution = Resolution(["M": definition], catalogue)
        #expect(summary(resolution.problems).first == "error M /managers/M\(problem)")
        #expect(resolution.plan.managers.isEmpty)
        #expect(resolution.plan.faults["M"] != nil)
    }

    @Test(
        arguments: [
            ("LibaryManager", "no plugin registers a class `LibaryManager`", "; did you mean `LibraryManager`?"),
            ("BookStore", "`BookStore` 1.0.0 of plugin `org.p0` is a data access controller, not a manager", ""),
        ])
    func `One that is named like its manager is reported as such, with the place of another`(
        name: String, words: String, hint: String
    ) {
        let resolution = Resolution(.dictionary([name: [:], "ClockManager": [:]]), catalogue)
        let message = "\(words) (the manager's name; write another as `className` in /managers/\(name))\(hint)"
        #expect(resolution.problems.map(\.error.message) == [message])
        #expect(resolution.problems.map(\.error.location) == ["/managers/\(name)/className"])
        #expect(Array(resolution.plan.managers.keys) == ["ClockManager"])
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Wires of a manifest` {
    static let need = ContractDescription.of("API", "1.2.0", async: ["find"], sync: ["count"])

    static let misfits: [(ContractDescription?, String)] = [
        (nil, "provides no contract"),
        (.of("Other", "1.2.0", async: ["find"], sync: ["count"]), "provides `Other` 1.2.0"),
        (.of("API", "1.1.9", async: ["find"], sync: ["count"]), "provides `API` 1.1.9, an earlier version"),
        (.of("API", "2.0.0", async: ["find"], sync: ["count"]), "provides `API` 2.0.0, another major version"),
        (
            .of("API", "1.2.0", async: ["find", "count"]),
            "provides `API` 1.2.0 with `count` asynchronous, not synchronous"
        ),
    ]

    private func resolve(provider: ContractDescription?) -> Resolution {
        let catalogue = Catalogue(
            plugins: [
                .manager(
                    "M",
                    wires: [
                        .to("dataAccessController", Self.need), .to("communicationController", Self.need),
                        .to("clock", Self.need),
                    ]),
                .communication("C", provides: provider, wires: [.to("books", Self.need)]),
            ],
            [
                .dataAccess("D", provides: provider), .service("S", provides: provider),
                .manager("Clock", provides: provider),
            ])
        return Resolution(
            [
                "Clock": ["className": "Clock"],
                "M": [
                    "className": "M", "uses": ["clock": "Clock"], "dataAccessController": ["className": "D"],
                    "communicationController": [
                        "className": "C", "services": [["className": "S", "propertyName": "books"]],
                    ],
                ],
            ], catalogue)
    }

    @Test(arguments: [
        need, .of("API", "1.2.1", async: ["new", "find"], sync: ["count"]),
        .of("API", "1.9.0", async: ["find"], sync: ["more", "count"]),
    ])
    func `A provider of the same contract in a version that serves is connected`(provider: ContractDescription) throws {
        let resolution = resolve(provider: provider)
        #expect(resolution.problems.isEmpty)
        #expect(resolution.plan.classNames == ["Clock", "D", "S", "C", "M"])
        #expect(
            resolution.plan.nodes[4].wires == [
                Plan.Link(label: "dataAccessController", provider: 1),
                Plan.Link(label: "communicationController", provider: 3), Plan.Link(label: "clock", provider: 0),
            ])
        #expect(resolution.plan.nodes[3].wires == [Plan.Link(label: "books", provider: 2)])
        try resolution.plan.checkInvariants()
    }

    @Test(arguments: misfits)
    func `A provider that does not fit is an error that names both sides, wherever it is`(
        provider: ContractDescription?, words: String
    ) {
        let asks = "asks for `API` 1.2.0 as"
        #expect(
            summary(resolve(provider: provider).problems) == [
                "error M /managers/M/dataAccessController/className: wire.mismatch: `M` 1.0.0 of plugin `org.p0` \(asks) `dataAccessController`, but `D` 1.0.0 of plugin `org.p1` \(words)",
                "error M /managers/M/communicationController/className: wire.mismatch: `M` 1.0.0 of plugin `org.p0` \(asks) `communicationController`, but `C` 1.0.0 of plugin `org.p0` \(words)",
                "error M /managers/M/uses/clock: wire.mismatch: `M` 1.0.0 of plugin `org.p0` \(asks) `clock`, but `Clock` 1.0.0 of plugin `org.p1` \(words)",
                "error M /managers/M/communicationController/services/0/className: wire.mismatch: `C` 1.0.0 of plugin `org.p0` \(asks) `books`, but `S` 1.0.0 of plugin `org.p1` \(words)",
            ])
    }

    @Test func `A provider without a method that is asked for is connected, with a warning`() {
        let resolution = resolve(provider: .of("API", "1.3.0", async: ["find", "other"]))
        #expect(resolution.problems.allSatisfy { $0.severity == .warning && $0.error.code == .callUnimplemented })
        #expect(
            resolution.problems.first?.error.message
                == "`M` 1.0.0 of plugin `org.p0` asks for `API` 1.2.0 as `dataAccessController`; `D` 1.0.0 of plugin `org.p1` provides it without `count`, so calls to that fail"
        )
        #expect(resolution.plan.nodes.count == 5)
    }

    @Test func `What is needed but not given is an error, what is optional is not`() {
        for optional in [false, true] {
            let labels = ["dataAccessController", "communicationController", "clock"]
            let resolution = Resolution(
                ["M": ["className": "M"]],
                Catalogue(plugins: [.manager("M", wires: labels.map { .to($0, .of("API"), optional: optional) })]))
            let asks = "`M` 1.0.0 of plugin `org.p0` asks for `API` 1.0.0 as"
            #expect(
                summary(resolution.problems)
                    == (optional
                        ? []
                        : [
                            "error M /managers/M/dataAccessController: wire.unsatisfied: \(asks) `dataAccessController`; the manifest connects nothing to it",
                            "error M /managers/M/communicationController: wire.unsatisfied: \(asks) `communicationController`; the manifest connects nothing to it",
                            "error M /managers/M/uses/clock: wire.unsatisfied: \(asks) `clock`; the manifest connects nothing to it",
                        ]))
            #expect(resolution.plan.managers.isEmpty == !optional)
        }
    }

    @Test func `Services and properties that do not match are errors of either side`() {
        let catalogue = Catalogue(plugins: [
            .manager("M"), .service("S", provides: .of("API")),
            .communication(
                "C",
                wires: [.to("books", .of("API")), .to("covers", .of("API"), optional: true), .to("loans", .of("API"))]),
        ])
        let services: ManifestValue = [
            ["className": "S", "propertyName": "loans"], ["className": "S", "propertyName": "boks"],
            ["className": "S", "propertyName": "x"],
        ]
        let resolution = Resolution(
            ["M": ["className": "M", "communicationController": ["className": "C", "services": services]]], catalogue)
        let path = "error M /managers/M/communicationController/services"
        #expect(
            summary(resolution.problems.filter { $0.severity == .error }) == [
                "\(path)/1/propertyName: wire.unknown: `C` 1.0.0 of plugin `org.p0` has no property `boks` for `S`; did you mean `books`?",
                "\(path)/2/propertyName: wire.unknown: `C` 1.0.0 of plugin `org.p0` has no property `x` for `S`; it declares `books`, `covers`, `loans`",
                "\(path): wire.unsatisfied: `C` 1.0.0 of plugin `org.p0` asks for `API` 1.0.0 as `books`; the manifest connects nothing to it",
            ])
        #expect(resolution.problems.filter(\.isConsequence).count == 1, "a misspelt property leaves its own wire empty")
    }

    @Test func `A misspelt key is an error if something lacks for it, and what lacks is its consequence`() {
        let catalogue = Catalogue(plugins: [
            .manager("M", wires: [.to("dataAccessController", .of("API"))]), .dataAccess("D", provides: .of("API")),
        ])
        let resolution = Resolution(["M": ["className": "M", "dataAccesController": ["className": "D"]]], catalogue)
        let words =
            "/managers/M/dataAccesController: manifest.unknown-key: unknown key `dataAccesController`; did you mean `dataAccessController`?"
        #expect(summary(resolution.problems.causes) == ["error M \(words)"])
        #expect(resolution.problems.count == 2 && resolution.plan.faults["M"]?.description == words)

        let missing = Resolution(["M": ["clasName": "M"]], catalogue)
        #expect(
            summary(missing.problems.causes) == [
                "error M /managers/M/clasName: manifest.unknown-key: unknown key `clasName`; did you mean `className`?"
            ])
        let superfluous = Resolution(
            [
                "M": [
                    "className": "M", "dataAccessController": ["className": "D"],
                    "dataAccesController": ["className": "D"],
                ]
            ], catalogue)
        #expect(superfluous.problems.map(\.severity) == [.warning])
    }

    @Test func `A class that is missing beside a library may be in that one, unless its name is almost another's`() {
        let lost = BackplaneError(.pluginNotFound, "the library `Bok` was not found", at: "/plugins/0/library")
        let catalogue = Catalogue(plugins: [.manager("ClockManager", wires: [.to("clock", .of("API"))])])
        let managers: ManifestValue = [
            "A": ["className": "Shelf"], "B": ["className": "ClokManager"], "C": ["className": "ClockManager"],
        ]
        let resolution = Resolution(
            ManifestDocument(["manifestVersion": 1, "managers": managers]), catalogue: catalogue, loadErrors: [lost])
        #expect(resolution.problems.filter(\.isConsequence).map(\.manager) == ["A"])
        let faults = resolution.plan.faults.mapValues(\.message)
        #expect(
            faults["A"]
                == "the library `Bok` was not found; probably for that reason, no plugin registers a class `Shelf`; registered as a manager: `ClockManager`"
        )
        #expect(faults["B"] == "no plugin registers a class `ClokManager`; did you mean `ClockManager`?")
        #expect(faults["C"]?.contains("asks for `API`") == true && faults["C"]?.contains("Bok") == false)

        let several = Resolution(
            ManifestDocument(["manifestVersion": 1, "managers": managers]), catalogue: catalogue,
            loadErrors: [lost, lost])
        #expect(
            several.plan.faults["A"]?.message
                == "2 libraries are not loaded, the first: the library `Bok` was not found; probably for that reason, no plugin registers a class `Shelf`; registered as a manager: `ClockManager`"
        )
    }

    @Test func `A use that the class does not declare is an error that names what it declares`() {
        let catalogue = Catalogue(plugins: [
            .manager(
                "M",
                wires: [
                    .to("clock", .of("API"), optional: true), .to("dataAccessController", .of("API"), optional: true),
                ]), .manager("N"),
        ])
        let resolution = Resolution(
            [
                "M": ["className": "M", "uses": ["klock": "N", "x": "N"]],
                "N": ["className": "N", "uses": ["y": "N2"]], "N2": ["className": "N"],
            ], catalogue)
        #expect(
            summary(resolution.problems.filter { $0.error.code == .wireUnknown }) == [
                "error M /managers/M/uses/klock: wire.unknown: `M` 1.0.0 of plugin `org.p0` declares no wire `klock`; did you mean `clock`?",
                "error M /managers/M/uses/x: wire.unknown: `M` 1.0.0 of plugin `org.p0` declares no wire `x`; it declares `clock`",
                "error N /managers/N/uses/y: wire.unknown: `N` 1.0.0 of plugin `org.p0` declares no wire `y`; it declares none",
            ])
    }

    @Test func `A use of a manager that is not there names the nearest`() {
        let catalogue = Catalogue(plugins: [.manager("M", wires: [.to("clock", .of("API"))])])
        let resolution = Resolution(["ClockManager": ["className": "M", "uses": ["clock": "ClokManager"]]], catalogue)
        #expect(
            summary(resolution.problems) == [
                "error ClockManager /managers/ClockManager/uses/clock: manager.unknown: no manager is named `ClokManager`; did you mean `ClockManager`?"
            ])
    }
}

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
        #expect(plan.nodes[0].networkFolder == .place(manager: "A", label: "a"), "whatever their order")
        #expect(plan.nodes[5].networkFolder == .place(manager: "C", label: "a"))
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

/// Managers of one class that may use up to eight others, called 0 to 7.
private func resolve(_ uses: [String: [String]], faulty: Set<String> = []) -> Resolution {
    let api = ContractDescription.of("API")
    let wires = (0..<8).map { WireDescription.to("\($0)", api, optional: true) }
    let managers = uses.map { name, used in
        let labelled = Dictionary(uniqueKeysWithValues: used.enumerated().map { ("\($0)", ManifestValue.string($1)) })
        return (
            name,
            ["className": faulty.contains(name) ? "Nowhere" : "M", "uses": .dictionary(labelled)] as ManifestValue
        )
    }
    return Resolution(
        .dictionary(Dictionary(uniqueKeysWithValues: managers)),
        Catalogue(plugins: [.manager("M", provides: api, wires: wires)]))
}

private func order(_ plan: Plan) -> [String] { plan.nodes.flatMap(\.managers) }

struct `Managers that use managers` {
    @Test func `They come after those they use`() throws {
        let plan = resolve(["A": ["Z"], "B": [], "C": ["A", "B"], "Z": []]).plan
        #expect(order(plan) == ["Z", "A", "B", "C"])
        #expect(try plan.nodes(neededBy: "A").flatMap(\.managers) == ["Z", "A"])
        #expect(try plan.nodes(neededBy: "C").flatMap(\.managers) == ["Z", "A", "B", "C"])
        try plan.checkInvariants()
    }

    @Test func `What is used comes before its users, and the members of a circle by number, as stops need them`() {
        let graph = UseGraph(uses: [[2, 3], [0], [3, 0], [], [1, 1, 4]])
        #expect(graph.components() == [[3], [0, 2], [1], [4]])
    }

    @Test func `A circle is printed as one, at every member, and leaves the others be`() {
        let resolution = resolve(["A": ["B"], "B": ["D", "C"], "C": ["A"], "D": [], "Self": ["Self"]])
        let circle = "managers use one another in a cycle: A → B → C → A"
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A/uses/0: manager.cycle: \(circle)",
                "error B /managers/B/uses/1: manager.cycle: \(circle)",
                "error C /managers/C/uses/0: manager.cycle: \(circle)",
                "error Self /managers/Self/uses/0: manager.cycle: managers use one another in a cycle: Self → Self",
            ])
        #expect(order(resolution.plan) == ["D"])
        #expect(resolution.plan.faults.keys.sorted() == ["A", "B", "C", "Self"])
    }

    @Test func `Who uses one with a fault has one as well, which names where it began`() throws {
        let resolution = resolve(["A": ["B"], "B": ["C"], "C": [], "Other": []], faulty: ["C"])
        let root = BackplaneError(
            .unknownClass, "no plugin registers a class `Nowhere`; registered as a manager: `M`",
            at: "/managers/C/className")
        #expect(
            resolution.plan.faults["B"]
                == BackplaneError(
                    .dependencyUnsatisfied, "`C` cannot be created: \(root.message)", at: "/managers/B/uses/0",
                    causes: [root]))
        #expect(
            resolution.plan.faults["A"]
                == BackplaneError(
                    .dependencyUnsatisfied, "`B` cannot be created because `C` cannot: \(root.message)",
                    at: "/managers/A/uses/0", causes: [root]))
        #expect(order(resolution.plan) == ["Other"])
    }

    @Test func `A fault that reading found spreads too`() {
        let api = ContractDescription.of("API")
        let resolution = Resolution(
            ["A": ["className": "M", "uses": ["b": "B"]], "B": ["className": 3]],
            Catalogue(plugins: [.manager("M", provides: api, wires: [.to("b", api)])]))
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A/uses/b: manager.unsatisfied: `B` cannot be created: expected a string, found an integer",
                "error B /managers/B/className: manifest.wrong-type: expected a string, found an integer",
            ])
    }

    @Test func `Several errors of one manager are one fault with all as its causes`() {
        let resolution = resolve(["A": ["Gone"]], faulty: ["A"])
        let fault = resolution.plan.faults["A"]
        #expect(fault?.location == "/managers/A")
        #expect(
            fault?.message
                == "`A` has 2 errors, the first: no plugin registers a class `Nowhere`; registered as a manager: `M`")
        #expect(fault?.causes == resolution.problems.map(\.error))
    }

    @Test func `A name that is not there is an error that names the nearest`() {
        let plan = resolve(["ClockManager": [], "ArtManager": [], "Bad": []], faulty: ["Bad"]).plan
        #expect(
            throws: BackplaneError(
                .unknownManager,
                "no manager is named `ClokManager`; did you mean `ClockManager`?"
            )
        ) { try plan.node(ofManager: "ClokManager") }
        #expect(throws: BackplaneError(.unknownManager, "no manager is named `X`; there are none")) {
            try resolve([:]).plan.node(ofManager: "X")
        }
    }

    @Test func `A name looked up in a manifest that could not be read says why nothing is there`() throws {
        let plan = Resolution(ManifestDocument(contentsOf: "/nowhere.json"), catalogue: Catalogue([])).plan
        let error = try #require(throws: BackplaneError.self) { try plan.node(ofManager: "M") }
        #expect(error.causes.map(\.code) == [.manifestUnreadable])
    }

    @Test(arguments: 0..<60)
    func `In any graph, providers come before users and none is lost`(seed: UInt64) throws {
        var random = SeededNumbers(seed)
        let names = (0..<Int.random(in: 1...20, using: &random)).map { "M\($0)" }
        let uses = Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, Array(names.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))))
            })
        let faulty = Set(names.filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
        let plan = resolve(uses, faulty: faulty).plan
        try plan.checkInvariants()

        // A manager is sound exactly if nothing it reaches is faulty or reaches itself.
        func reached(from name: String) -> Set<String> {
            var (found, waiting) = (Set<String>(), uses[name]!)
            while let next = waiting.popLast() {
                if found.insert(next).inserted { waiting += uses[next]! }
            }
            return found
        }
        let sound = names.filter { name in
            reached(from: name).union([name]).allSatisfy { !faulty.contains($0) && !reached(from: $0).contains($0) }
        }
        #expect(Set(plan.managers.keys) == Set(sound), "\(uses) \(faulty)")
        #expect(Set(plan.faults.keys) == Set(names).subtracting(sound))
        for name in sound {
            let needed = try plan.nodes(neededBy: name)
            #expect(Set(needed.flatMap(\.managers)) == reached(from: name).union([name]))
            #expect(needed.map(\.id) == needed.map(\.id).sorted())
        }
    }
}

/// Contracts and catalogues for the tests of this folder, written short.
extension ContractDescription {
    static func of(_ name: String, _ version: Version = "1.0.0", async: [String] = [], sync: [String] = []) -> Self {
        Self(
            name: name, version: version,
            methods: async.map { MethodDescription(name: $0, kind: .async) }
                + sync.map { MethodDescription(name: $0, kind: .sync) })
    }
}

extension WireDescription {
    static func to(_ label: String, _ contract: ContractDescription, optional: Bool = false) -> Self {
        Self(label: label, isOptional: optional, contract: contract)
    }
}

extension ComponentDescription {
    static func manager(
        _ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil,
        wires: [WireDescription] = []
    ) -> Self {
        Self(role: .manager, className: name, version: version, contract: provides, wires: wires)
    }

    static func dataAccess(_ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil) -> Self {
        Self(role: .dataAccessController, className: name, version: version, contract: provides)
    }

    static func communication(
        _ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil,
        wires: [WireDescription] = []
    ) -> Self {
        Self(role: .communicationController, className: name, version: version, contract: provides, wires: wires)
    }

    static func service(_ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil) -> Self {
        Self(role: .networkService, className: name, version: version, contract: provides)
    }
}

extension Catalogue {
    /// Plugins `org.p0`, `org.p1`, … with these components.
    init(plugins: [ComponentDescription]...) {
        self.init(
            plugins.enumerated().flatMap { order, components in
                components.enumerated().map { index, component in
                    Entry(
                        plugin: "org.p\(order)", pluginVersion: "1.0.0", order: order, index: index,
                        component: component)
                }
            })
    }
}

extension Resolution {
    init(_ managers: ManifestValue, _ catalogue: Catalogue) {
        self.init(ManifestDocument(["manifestVersion": 1, "managers": managers]), catalogue: catalogue)
    }
}

extension Plan {
    /// The nodes that a manager needs, including its own, in the order of creation.
    func nodes(neededBy name: String) throws -> [Node] {
        var needed: Set<String> = []
        var waiting = [try node(ofManager: name)]
        while let manager = waiting.popLast() {
            needed.formUnion(manager.managers)
            waiting += manager.wires.map { nodes[$0.provider] }.filter {
                $0.role == .manager && needed.isDisjoint(with: $0.managers)
            }
        }
        return nodes.filter { !needed.isDisjoint(with: $0.managers) }
    }

    /// The classes in the order of creation.
    var classNames: [String] { nodes.map(\.entry.component.className) }

    /// What every plan must keep, whatever it was made from.
    func checkInvariants() throws {
        struct Broken: Error { var node: Node }
        for (index, node) in nodes.enumerated() {
            // A store always has a namespace, a manager never; network roles have one if the manifest names it.
            let hasItsNamespace =
                switch node.role {
                case .manager: node.namespace == nil
                case .dataAccessController: node.namespace != nil
                case .communicationController, .networkService: true
                }
            let isSound =
                node.id == index && node.wires.allSatisfy { $0.provider < index } && !node.managers.isEmpty
                && hasItsNamespace
                && node.managers.allSatisfy { managers[$0] != nil && faults[$0] == nil && index <= managers[$0]! }
            guard isSound else { throw Broken(node: node) }
        }
    }
}
