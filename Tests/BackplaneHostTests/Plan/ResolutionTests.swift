import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

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
