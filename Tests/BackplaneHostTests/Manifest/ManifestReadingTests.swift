import Backplane
import BackplaneDocuments
import Foundation
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

struct `Reading a manifest` {
    static let whole: ManifestValue = [
        "manifestVersion": 1,
        "plugins": [
            ["library": "Bookshelf"],
            ["library": "BooksAPIv2", "version": "[2.0,3.0)", "sha256": .string(String(repeating: "aB", count: 32))],
        ],
        "managers": [
            "LibraryManager": [
                "className": "LibraryManager", "version": "[1.2]", "uses": ["clock": "ClockManager"],
                "configuration": ["shelf": "A"],
                "activation": "lazy",
                "dataAccessController": [
                    "className": "BookStore", "version": "[1,)", "configuration": ["keep": 500], "namespace": "books",
                ],
                "communicationController": [
                    "className": "LibraryCommunication", "version": "(,4]", "configuration": ["patience": 2.5],
                    "services": [
                        [
                            "className": "BooksService", "version": "[2.0,3.0)", "propertyName": "books",
                            "networkServiceConfiguration": ["baseURL": "http://127.0.0.1:8080/v2"],
                        ]
                    ],
                ],
            ],
            "ClockManager": ["className": "Clock"],
        ],
    ]

    @Test func `Everything a manifest can say is there`() throws {
        let document = ManifestDocument(Self.whole)
        #expect(document.problems.isEmpty)
        let expected = Manifest(
            plugins: [
                PluginReference(library: "Bookshelf"),
                PluginReference(
                    library: "BooksAPIv2", version: "[2.0,3.0)",
                    sha256: String(repeating: "ab", count: 32)),
            ],
            managers: [
                "LibraryManager": ManagerDefinition(
                    className: "LibraryManager", version: "[1.2]", uses: ["clock": "ClockManager"],
                    configuration: ["shelf": "A"],
                    dataAccessController: ComponentDefinition(
                        className: "BookStore", version: "[1,)", configuration: ["keep": 500],
                        namespace: "books"),
                    communicationController: ComponentDefinition(
                        className: "LibraryCommunication", version: "(,4]",
                        configuration: ["patience": 2.5],
                        services: [
                            ComponentDefinition(
                                className: "BooksService", version: "[2.0,3.0)",
                                propertyName: "books",
                                configuration: ["baseURL": "http://127.0.0.1:8080/v2"])
                        ]),
                    activation: .lazy),
                "ClockManager": ManagerDefinition(className: "Clock"),
            ])
        #expect(document.manifest == expected)
        guard case .dictionary(let root) = Self.whole else { return }
        #expect(try Manifest(dictionary: root) == expected)
    }

    /// What is like its name, and what has no other settings, in as few words as possible.
    static let short: ManifestValue = [
        "manifestVersion": 1, "plugins": ["Hello", ["library": "Clock", "version": "[1.0,2.0)"]],
        "managers": [
            "Greeter": [:],
            "Shelf": [
                "communicationController": [
                    "className": "C",
                    "services": [["className": "S", "propertyName": "p", "configuration": ["a": "${A:-b}"]]],
                ]
            ],
        ],
    ]

    @Test func `A plugin can be a string, a manager has the class of its name, and a service a configuration`() {
        let document = ManifestDocument(Self.short) { _ in nil }
        #expect(document.problems.isEmpty)
        let service = ComponentDefinition(className: "S", propertyName: "p", configuration: ["a": "b"])
        #expect(
            document.manifest
                == Manifest(
                    plugins: ["Hello", PluginReference(library: "Clock", version: "[1.0,2.0)")],
                    managers: [
                        "Greeter": ManagerDefinition(),
                        "Shelf": ManagerDefinition(
                            communicationController: ComponentDefinition(className: "C", services: [service])),
                    ]))
        #expect(document.definitions(of: "Greeter").map(\.className) == ["Greeter"])
        #expect(summary(ManifestDocument(["Greeter": [:]]).problems).count == 1, "Nemo Logic has no default")
    }

    @Test func `A file that cannot be read is named, with the system's reason`() throws {
        let missing = BackplaneError(
            .manifestUnreadable, "the manifest cannot be read: No such file or directory", at: "/nowhere/backplane.json"
        )
        #expect(
            ManifestDocument(contentsOf: "/nowhere/backplane.json").problems == [Problem(.error, manager: nil, missing)]
        )
        #expect(throws: missing) { try Manifest(contentsOf: "/nowhere/backplane.json") }
        #expect(throws: BackplaneError(.manifestUnreadable, "the manifest cannot be read: Is a directory", at: "/")) {
            try Manifest(contentsOf: "/")
        }
    }

    @Test func `A manager with an error does not take the sound ones with it`() {
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["Sound": ["className": "S"], "Faulty": ["className": "F", "uses": 3]],
        ])
        #expect(Array(document.manifest.managers.keys) == ["Sound"])
        #expect(document.problems.map(\.manager) == ["Faulty"])
    }
}

/// What is wrong, in short: severity, manager, `location: code: message`.
func summary(_ problems: [Problem]) -> [String] {
    problems.map { "\($0.severity.rawValue) \($0.manager ?? "-") \($0.error)" }
}

struct `Problems of a manifest` {
    @Test(
        arguments: [
            ([1], "error - : manifest.wrong-type: expected a dictionary, found an array"),
            (7, "error - : manifest.wrong-type: expected a dictionary, found an integer"),
            (nil, "error - : manifest.wrong-type: expected a dictionary, found null"),
            (
                ["manifestVersion": 2, "managers": [:]],
                "error - /manifestVersion: manifest.unsupported: manifest version 2 is not supported; expected 1"
            ),
            (
                ["manifestVersion": "1", "managers": [:]],
                "error - /manifestVersion: manifest.wrong-type: expected an integer, found a string"
            ),
            (
                ["managers": ["M": ["className": "M"]]],
                "error - /manifestVersion: manifest.missing-key: `managers` requires `manifestVersion`; add `\"manifestVersion\": 1`"
            ),
            (["manifestVersion": 1], "error - /managers: manifest.missing-key: `managers` is missing"),
            (
                ["manifestVersion": 1, "managers": []],
                "error - /managers: manifest.wrong-type: expected a dictionary, found an array"
            ),
        ] as [(ManifestValue, String)])
    func `A root that is no manifest is one error`(root: ManifestValue, problem: String) {
        let document = ManifestDocument(root)
        #expect(summary(document.problems) == [problem])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test(
        arguments: [
            ("x", "error - /plugins: manifest.wrong-type: expected an array, found a string"),
            ([7], "error - /plugins/0: manifest.wrong-type: expected a string or a dictionary, found an integer"),
            (["A", ""], "error - /plugins/1: manifest.wrong-type: expected a name of 1 to 4096 bytes, found 0 bytes"),
            ([[:]], "error - /plugins/0/library: manifest.missing-key: `library` is missing"),
            ([["library": ""]], "error - /plugins/0/library: manifest.missing-key: `library` is empty"),
            (
                [["library": "A", "sha256": "abc"]],
                "error - /plugins/0/sha256: manifest.wrong-type: expected 64 hexadecimal digits, found `abc`"
            ),
            (
                [["library": "A", "version": "1.2"]],
                "error - /plugins/0/version: version.malformed: `1.2` is one version, not a range; write `[1.2,2.0)` for every compatible version, or `[1.2]` for this one alone"
            ),
            (
                [["library": "A", "verison": "1.2"]],
                "warning - /plugins/0/verison: manifest.unknown-key: unknown key `verison`; did you mean `version`?"
            ),
        ] as [(ManifestValue, String)])
    func `A plugin's mistake is the whole manifest's`(plugins: ManifestValue, problem: String) {
        let document = ManifestDocument([
            "manifestVersion": 1, "plugins": plugins, "managers": ["M": ["className": "M"]],
        ])
        #expect(summary(document.problems) == [problem])
        #expect(document.manifest.managers.count == 1)
    }

    static let service: ManifestValue = ["className": "S", "propertyName": "p"]

    @Test(
        arguments: [
            ("M", "error M : manifest.wrong-type: expected a dictionary, found a string"),
            (
                ["clasName": "N"],
                "error M /clasName: manifest.unknown-key: unknown key `clasName`; did you mean `className`?"
            ),
            (["className": ""], "error M /className: manifest.missing-key: `className` is empty"),
            (["className": ["M"]], "error M /className: manifest.wrong-type: expected a string, found an array"),
            (
                ["className": "M", "version": "~> 1"],
                "error M /version: version.malformed: `~> 1` is not a version range; write an interval such as `[1.2,2.0)`"
            ),
            (
                ["className": "M", "activation": "late"],
                "error M /activation: manifest.wrong-type: expected `eager` or `lazy`, found `late`"
            ),
            (
                ["className": "M", "uses": ["clock"]],
                "error M /uses: manifest.wrong-type: expected a dictionary, found an array"
            ),
            (
                ["className": "M", "uses": ["dataAccessController": "X"]],
                "error M /uses/dataAccessController: wire.unknown: `dataAccessController` is not a manager; write it as a key next to `uses`"
            ),
            (
                ["className": "M", "a/b~": 1],
                "warning M /a~1b~0: manifest.unknown-key: unknown key `a/b~`; known here: `activation`, `className`, `communicationController`, `configuration`, `dataAccessController`, `uses`, `version`, `was`"
            ),
            (
                ["className": "M", "dataAccessController": [:]],
                "error M /dataAccessController: manifest.missing-key: `dataAccessController` is empty; leave the key out for a manager without one, or give it a `className`"
            ),
            (
                ["className": "M", "dataAccessController": ["className": "D", "namespace": "@store"]],
                "error M /dataAccessController/namespace: manifest.unsupported: `@store` begins with `@`, which is reserved for namespaces of the host; choose another name"
            ),
            (
                ["className": "M", "communicationController": ["className": "C", "services": [:]]],
                "error M /communicationController/services: manifest.wrong-type: expected an array, found a dictionary"
            ),
            (
                ["className": "M", "communicationController": ["className": "C", "services": [service, "S"]]],
                "error M /communicationController/services/1: manifest.wrong-type: expected a dictionary, found a string"
            ),
            (
                ["className": "M", "communicationController": ["className": "C", "services": [["className": "S"]]]],
                "error M /communicationController/services/0/propertyName: manifest.missing-key: `propertyName` is missing"
            ),
            (
                ["className": "M", "communicationController": ["className": "C", "services": [service, service]]],
                "error M /communicationController/services/1/propertyName: wire.mismatch: `p` already has a service, number 0; a property can have only one"
            ),
            (
                [
                    "className": "M",
                    "communicationController": [
                        "className": "C",
                        "services": [
                            [
                                "className": "S", "propertyName": "p", "configuration": [:],
                                "networkServiceConfiguration": [:],
                            ]
                        ],
                    ],
                ],
                "error M /communicationController/services/0: manifest.wrong-type: `configuration` and `networkServiceConfiguration` are the same; write only `configuration`"
            ),
        ] as [(ManifestValue, String)])
    func `A manager's mistake is located and says what to do`(definition: ManifestValue, problem: String) {
        // The location is given from the manager on.
        let words = problem.split(separator: " ", maxSplits: 2)
        let expected = "\(words[0]) \(words[1]) /managers/M\(words[2])"
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["M": definition, "Other": ["className": "O"]],
        ])
        #expect(summary(document.problems) == [expected])
        #expect(document.manifest.managers["Other"] != nil)
        #expect((document.manifest.managers["M"] != nil) == (words[0] == "warning"))
    }

    @Test func `All problems are reported together, the whole manifest's first and then by manager`() {
        let text = """
            {
              "manifestVersion": 1,
              "plugin": [],
              "managers": {
                "Zoo": {"className": 1, "dataAccessController": {}},
                "Attic": {
                  "uses": {"a": []}
                }
              }
            }
            """
        let document = ManifestDocument(parsing: Data(text.utf8))
        #expect(
            summary(document.problems) == [
                "warning - /plugin: manifest.unknown-key: unknown key `plugin`; did you mean `plugins`?",
                "error Attic /managers/Attic/uses/a: manifest.wrong-type: expected a string, found an array",
                "error Zoo /managers/Zoo/className: manifest.wrong-type: expected a string, found an integer",
                "error Zoo /managers/Zoo/dataAccessController: manifest.missing-key: `dataAccessController` is empty; leave the key out for a manager without one, or give it a `className`",
            ])
        #expect(
            document.problems.map(\.position?.description) == [
                "line 3, column 3", "line 7, column 16", "line 5, column 13", "line 5, column 29",
            ])
    }

    @Test func `Only JSON has positions`() {
        #expect(ManifestDocument(["M": [:]]).problems.map(\.position) == [nil])
        #expect(
            ManifestDocument(parsing: Data("<plist><dict><key>M</key><dict/></dict></plist>".utf8)).problems.map(
                \.position) == [nil])
    }
}

/// Manifests with very many of one thing: what is said of one ends.
@Suite(.timeLimit(.minutes(10)))
struct ManifestLimitTests {
    private static func members(_ count: Int, _ member: (Int) -> String) -> String {
        (0..<count).map(member).joined(separator: ",")
    }

    private static func manifest(_ managers: String, _ rest: String = "") -> String {
        #"{"manifestVersion":1,"managers":{\#(managers)}\#(rest)}"#
    }

    @Test func `what is not listed is counted, and errors are not hidden by warnings`() throws {
        let unknown = Self.members(5_000) { #""k\#($0)":1"# }
        let services = Self.members(1_500) { _ in "1" }
        let faulty = #""className":"A","communicationController":{"className":"B","services":[\#(services)]}"#
        let managers = #""a":{\#(faulty)},"b":{"className":5}"#
        let document = ManifestDocument(parsing: Data(Self.manifest(managers, "," + unknown).utf8))
        let messages = document.problems.map { "\($0.severity): \($0.error.message)" }
        #expect(
            messages.contains("warning: 4000 more warnings are not listed; correct the listed ones, and check again"))
        #expect(messages.contains("error: 500 more errors are not listed; correct the listed ones, and check again"))
        #expect(document.manifest.managers.isEmpty)
        #expect(document.problems.contains { $0.manager == "b" }, "the first error of each manager is listed")
    }

    @Test func `more services or libraries than a manifest may have are one error`() {
        let half =
            #""className":"A","communicationController":{"className":"B","services":["#
            + Self.members(6_000) { #"{"className":"S","propertyName":"s\#($0)"}"# } + "]}"
        let managers = #""A":{\#(half)},"B":{\#(half)}"#
        let libraries = #","plugins":[\#(Self.members(10_001) { _ in #"{"library":"L"}"# })]"#
        let problems = ManifestDocument(parsing: Data(Self.manifest(managers, libraries).utf8)).problems
        let limits = problems.filter { $0.error.code == .manifestUnsupported }.map(\.error.message)
        #expect(limits.contains("10001 plugins; a manifest may have 10000"))
        #expect(limits.contains("6000 services more; a manifest may have 10000"))
    }
}

/// Mistakes that are many, or large: what is said of them stays small, and so does the time it takes.
@Suite(.timeLimit(.minutes(5)))
struct LargeMistakeTests {
    private static let catalogue = Catalogue(plugins: [.manager("M", wires: [.to("next", .of("Any"), optional: true)])])

    @Test func `a name of half a million letters is refused without repeating it`() {
        let name = String(repeating: "C", count: 500_000)
        let problems = Resolution(.dictionary(["M": ["className": .string(name)]]), Self.catalogue).problems
        #expect(problems.contains { $0.error.message == "expected at most 4096 bytes, found 500000" })
        #expect(problems.allSatisfy { $0.error.description.utf8.count < 500 })
    }

    @Test(arguments: ["\"", "<string>"])
    func `a key is at most a thousand bytes long`(spelling: String) {
        let long = String(repeating: "k", count: 1_025), most = String(long.dropLast())
        func document(_ key: String) -> ManifestDocument {
            let text =
                spelling == "\""
                ? #"{"manifestVersion": 1, "managers": {"M": {"className": "M", "configuration": {"\#(key)": 1}}}}"#
                : "<plist><dict><key>M</key><dict><key>className</key><string>M</string><key>\(key)</key><string/></dict></dict></plist>"
            return ManifestDocument(parsing: Data(text.utf8))
        }
        #expect(document(long).problems.map(\.error.code) == [.manifestUnsupported])
        #expect(document(most).problems.allSatisfy { $0.error.code == .manifestUnknownKey })
    }

    @Test func `thousands of errors are one with a hundred causes and a summary`() throws {
        let classes = (0..<9_999).map { BackplaneError(.unknownClass, "class \($0)") }
        let error = BackplaneError.combining(
            classes + [BackplaneError(.dependencyCycle, "a circle")], of: "the manifest", at: nil)
        #expect(error.message == "the manifest has 10000 errors, the first: class 0")
        #expect(error.causes.count == 101)
        #expect(error.causes[99].message == "class 99")
        #expect(error.causes[100].message == "and 9900 more: 9899 `component.unknown-class`, 1 `manager.cycle`")
        #expect(BackplaneError.combining(Array(classes[..<100]), of: "it", at: nil).causes.count == 100)
    }

    @Test func `a step of a pointer is escaped by its scalars`() {
        #expect("a/\u{301}b".pointerStep == "a~1\u{301}b")
        #expect("~\u{301}".pointerStep == "~0\u{301}")
    }
}

struct VersionRangeTests {
    @Test(arguments: [
        ("[1.2,2.0)", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0"]),
        ("(1.2,2.0]", ["1.2.1", "2.0.0"], ["1.2.0", "2.0.1"]),
        ("[1.2]", ["1.2.0"], ["1.2.1", "1.1.9"]),
        ("[1.2,)", ["1.2.0", "99.0.0"], ["1.1.0"]),
        ("(,2)", ["0.0.1", "1.9.9"], ["2.0.0"]),
        ("[ 1.2 , 2.0 )", ["1.2.0"], ["2.0.0"]),
    ])
    func `an interval holds what is between its ends`(text: String, inside: [Version], outside: [Version]) throws {
        let range = try VersionRange(text)
        #expect(inside.filter { !range.contains($0) } == [])
        #expect(outside.filter { range.contains($0) } == [])
    }

    @Test func `a literal is a range, where a range is expected`() {
        let range: VersionRange = "[1.2,2.0)"
        #expect(
            range == VersionRange(lower: .init("1.2.0", isIncluded: true), upper: .init("2.0.0", isIncluded: false)))
        let definition = ManagerDefinition(className: "LibraryManager", version: "[1.2]")
        #expect(definition.version?.contains("1.2.0") == true && definition.version?.contains("1.2.1") == false)
    }

    @Test func `a version alone is refused with a hint`() {
        let text = "1.2"
        let error = #expect(throws: BackplaneError.self) { try VersionRange(text) }
        #expect(
            error?.message
                == "`1.2` is one version, not a range; write `[1.2,2.0)` for every compatible version, or `[1.2]` for this one alone"
        )
    }

    @Test(arguments: [
        "", "[", "[]", "1.2,2.0", "[1.2,2.0", "(1.2)", "[2.0,1.0]", "[1.0,1.0)", "[a,b]", "[1,2,3]", "^1.2", ">=1.0",
        "1.x",
    ])
    func `what is no interval is refused`(text: String) {
        #expect(throws: BackplaneError.self) { try VersionRange(text) }
    }

    @Test(arguments: ["[1.2.0,2.0.0)", "(1.0.0,2.0.0]", "[1.2.0]", "[1.2.0,)", "(,2.0.0)"])
    func `a range is printed as it is written`(text: String) throws {
        #expect(try VersionRange(text).description == text)
        #expect(try VersionRange(VersionRange(text).description) == VersionRange(text))
    }
}
