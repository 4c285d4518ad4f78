import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

struct `Environments of a manifest` {
    static let text = """
        {
          "manifestVersion": 1,
          "plugins": [{"library": "A"}, {"library": "B"}],
          "managers": {
            "Store": {"className": "Store", "configuration": {"keep": 500, "shelf": {"row": 1, "side": "left"}}},
            "Clock": {"className": "Clock"}
          },
          "environments": {
            "development": {
              "plugins": [{"library": "Fake"}],
              "managers": {
                "Store": {"configuration": {"keep": 5, "shelf": {"side": null}}},
                "Clock": null,
                "Probe": {"className": "Probe", "configuration": {"level": null, "list": [null]}}
              }
            },
            "production": {}
          }
        }
        """

    private func read(_ environment: String?, _ text: String = text) -> ManifestDocument {
        ManifestDocument(parsing: Data(text.utf8), environment: environment)
    }

    @Test func `None is chosen unless one is`() {
        let document = read(nil)
        #expect(document.problems.isEmpty)
        #expect(document.manifest.managers.keys.sorted() == ["Clock", "Store"])
        #expect(document.manifest == read("production").manifest)
    }

    @Test func `The chosen one is laid over the manifest: dictionaries merge, null removes, all else replaces`() {
        let document = read("development")
        #expect(document.problems.isEmpty)
        #expect(
            document.manifest
                == Manifest(
                    plugins: [PluginReference(library: "Fake")],
                    managers: [
                        "Store": ManagerDefinition(
                            className: "Store", configuration: ["keep": 5, "shelf": ["row": 1]]),
                        "Probe": ManagerDefinition(className: "Probe", configuration: ["list": [nil]]),
                    ]))
    }

    @Test(
        arguments: [
            // The examples of RFC 7396, appendix A, whose members are dictionaries.
            (["a": "b"], ["a": "c"], ["a": "c"]), (["a": "b"], ["b": "c"], ["a": "b", "b": "c"]),
            (["a": "b"], ["a": nil], [:]),
            (["a": "b", "b": "c"], ["a": nil], ["b": "c"]), (["a": ["b"]], ["a": "c"], ["a": "c"]),
            (["a": "c"], ["a": ["b"]], ["a": ["b"]]),
            (["a": ["b": "c"]], ["a": ["b": "d", "c": nil]], ["a": ["b": "d"]]),
            (["a": [["b": "c"]]], ["a": [1]], ["a": [1]]),
            (["a", "b"], ["c", "d"], ["c", "d"]), (["a": "b"], ["c"], ["c"]), (["a": "foo"], nil, nil),
            (["a": "foo"], "bar", "bar"),
            (["e": nil], ["a": 1], ["e": nil, "a": 1]), ([1, 2], ["a": "b", "c": nil], ["a": "b"]),
            ([:], ["a": ["bb": ["ccc": nil]]], ["a": ["bb": [:]]]),
        ] as [(ManifestValue, ManifestValue, ManifestValue)])
    func `Merging is that of RFC 7396`(value: ManifestValue, patch: ManifestValue, merged: ManifestValue) {
        var origins = ManifestOrigins()
        #expect(value.merging(patch, writtenAt: ManifestPath(), &origins) == merged)
    }

    @Test func `A name that is not there is an error that names the nearest, and nothing runs`() {
        let document = read("prodution")
        #expect(
            summary(document.problems) == [
                "error - /environments: manifest.unknown-environment: no environment is named `prodution`; did you mean `production`?"
            ])
        #expect(document.problems[0].position?.line == 8)
        #expect(document.manifest.managers.isEmpty)
        let none = "no environment is named `production`; the manifest has none"
        for value in [["manifestVersion": 1, "managers": [:]], ["M": ["className": "M"]]] as [ManifestValue] {
            let document = ManifestDocument(value, environment: "production")
            #expect(summary(document.problems) == ["error - /environments: manifest.unknown-environment: \(none)"])
            #expect(document.manifest.managers.isEmpty)
        }
    }

    @Test(
        arguments: [
            ([], "error - /environments: manifest.wrong-type: expected a dictionary, found an array"),
            (["e": 1], "error - /environments/e: manifest.wrong-type: expected a dictionary, found an integer"),
            (
                ["e": ["manifestVersion": 1]],
                "error - /environments/e/manifestVersion: manifest.unsupported: an environment cannot change `manifestVersion`; it can contain `plugins`, `managers`, `store`, `network`, `server`, `screens`, `swap`"
            ),
            (
                ["e": ["environments": [:]]],
                "error - /environments/e/environments: manifest.unsupported: an environment cannot change `environments`; it can contain `plugins`, `managers`, `store`, `network`, `server`, `screens`, `swap`"
            ),
            (
                ["e": ["$schema": "x"]],
                "error - /environments/e/$schema: manifest.unsupported: an environment cannot change `$schema`; it can contain `plugins`, `managers`, `store`, `network`, `server`, `screens`, `swap`"
            ),
            (
                ["e": ["manager": [:]]],
                "warning - /environments/e/manager: manifest.unknown-key: unknown key `manager`; did you mean `managers`?"
            ),
        ] as [(ManifestValue, String)])
    func `A mistake in one is found whether it is chosen or not`(environments: ManifestValue, problem: String) {
        let value: ManifestValue = [
            "manifestVersion": 1, "managers": ["M": ["className": "M"]], "environments": environments,
        ]
        #expect(summary(ManifestDocument(value).problems) == [problem])
        #expect(ManifestDocument(value).manifest.managers.count == 1)
        let chosen = ManifestDocument(value, environment: "e")
        #expect(chosen.problems.map(\.error).contains { problem.hasSuffix($0.description) }, "\(chosen.problems)")
    }

    @Test func `What is wrong with a value that an environment brought is located there`() {
        let text = """
            {
              "manifestVersion": 1,
              "managers": {
                "A": {"className": "A", "dataAccessController": {"className": "D"}},
                "B": {"className": "B"},
                "C": {"className": "C"}
              },
              "environments": {
                "test": {
                  "managers": {
                    "A": {"dataAccessController": {"className": 3}},
                    "B": {"className": ""},
                    "New": {"className": "X", "uses": {"a": "Nobody"}},
                    "C": {"uses": {"b": "B"}}
                  }
                }
              }
            }
            """
        let catalogue = Catalogue(plugins: [.manager("C", wires: [.to("b", .of("API"), optional: true)])])
        let problems = Resolution(read("test", text), catalogue: catalogue).problems
        #expect(
            problems.map {
                "\($0.position?.line ?? 0) \($0.manager ?? "-") \($0.error.location ?? "") \($0.error.code)"
            } == [
                "11 A /environments/test/managers/A/dataAccessController/className manifest.wrong-type",
                "12 B /environments/test/managers/B/className manifest.missing-key",
                "14 C /environments/test/managers/C/uses/b manager.unsatisfied",
                "13 New /environments/test/managers/New/className component.unknown-class",
                "13 New /environments/test/managers/New/uses/a manager.unknown",
            ])
        #expect(problems[2].error.causes.map(\.location) == ["/environments/test/managers/B/className"])
    }

    @Test func `A library is located in its own entry, whatever is wrong with those before it, and in its environment`()
    {
        let value: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": 1], ["library": "A"]], "managers": [:],
            "environments": ["e": ["plugins": ["B"]]],
        ]
        #expect(ManifestDocument(value).place(ofLibrary: 0) == "/plugins/1/library")
        #expect(ManifestDocument(value, environment: "e").place(ofLibrary: 0) == "/environments/e/plugins/0")
        #expect(ManifestDocument(Manifest(plugins: ["A"], managers: [:])).place(ofLibrary: 0) == "/plugins/0")
    }

    @Test func `What a component says of its configuration is located where the value is written`() throws {
        let text = """
            {"manifestVersion": 1, "managers": {"A/B": {"className": "M", "configuration": {"x": 1, "z": 1}}},
             "environments": {"e": {"managers": {"A/B": {"configuration": {"x": 2}}, "N": {"className": "M"}}}}}
            """
        let plan = Resolution(read("e", text), catalogue: Catalogue(plugins: [.manager("M")])).plan
        let changed = try plan.node(ofManager: "A/B"), new = try plan.node(ofManager: "N")
        #expect(changed.location == "/managers/A~1B")
        #expect(changed.place(of: "/configuration/x/0") == "/environments/e/managers/A~1B/configuration/x/0")
        #expect(changed.place(of: "/configuration/z") == "/managers/A~1B/configuration/z")
        #expect(changed.place(of: "/configuration") == "/managers/A~1B/configuration")
        #expect(new.location == "/environments/e/managers/N")
        #expect(new.place(of: "/configuration/x") == "/environments/e/managers/N/configuration/x")
    }

    @Test(
        arguments: [
            (["M": ["className": 5]], "/environments/other/managers/M/className"),
            (["M": ["clasName": "X"]], "/environments/other/managers/M/clasName"),
            (["M": ["uses": 5]], "/environments/other/managers/M/uses"),
            (["M": ["version": "junk"]], "/environments/other/managers/M/version"),
            (["N": ["version": 1]], "/environments/other/managers/N/version"),
            (["M": 3], "/environments/other/managers/M"),
            (["M": ["version": "${A}", "className": "${B}", "uses": 5]], "/environments/other/managers/M/uses"),
        ] as [(ManifestValue, String)])
    func `What would be wrong with one that is not chosen is a warning`(managers: ManifestValue, place: String) {
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["M": ["className": "M"]],
            "environments": ["other": ["managers": managers], "sound": [:]],
        ])
        let rehearsal = document.rehearsal
        #expect(document.problems == [], "that is left to a check")
        #expect(rehearsal.allSatisfy { $0.severity == .warning })
        #expect(rehearsal.count == 1)
        #expect(
            rehearsal.contains {
                $0.error.location?.hasPrefix(place) == true
                    && $0.error.message.hasPrefix("in an environment that is not in use: ")
            })
        #expect(document.manifest.managers.keys.sorted() == ["M"])
    }

    @Test(
        arguments: [
            // The whole controller is written in the environment, or only a part of it.
            ([:], ["clasName": "X"]), (["version": "[1.0]"], ["clasName": "X"]), (nil, ["classname": "X"]),
        ] as [(ManifestValue?, ManifestValue)])
    func `A misspelt key in one is an error, and what lacks for it is its consequence`(
        base: ManifestValue?, patch: ManifestValue
    ) throws {
        let key = "dataAccessController", manager = base.map { ManifestValue.dictionary([key: $0]) } ?? [:]
        let value: ManifestValue = [
            "manifestVersion": 1, "managers": ["M": manager], "environments": ["e": ["managers": ["M": [key: patch]]]],
        ]
        let problems = ManifestDocument(value, environment: "e").problems, causes = problems.causes
        #expect(problems.count == 2 && causes.count == 1)
        #expect(causes.first?.error.location?.hasPrefix("/environments/e/managers/M/\(key)/clas") == true)
        #expect(causes.first?.error.code == .manifestUnknownKey && causes.first?.severity == .error)
    }
}

struct `Variables in a manifest` {
    static let values = ["HOST": "example.org", "EMPTY": "", "_a1": "x", "NESTED": "${HOST}", "SECRET": "swordfish"]

    private func document(_ definition: ManifestValue, environment: String? = nil) -> ManifestDocument {
        ManifestDocument(["manifestVersion": 1, "managers": ["M": definition]]) { Self.values[$0] }
    }

    private func configured(_ value: ManifestValue) -> ManifestValue? {
        document(["className": "M", "configuration": ["v": value]]).manifest.managers["M"]?.configuration["v"]
    }

    @Test(arguments: [
        ("http://${HOST}/v2", "http://example.org/v2"), ("${HOST}${_a1}", "example.orgx"),
        ("${HOST:-other}", "example.org"),
        ("${NONE:-other}", "other"), ("${NONE:-}", ""), ("${EMPTY}", ""), ("${EMPTY:-other}", "other"),
        ("${NONE:-a:-b $c}", "a:-b $c"),
        ("${NESTED}", "${HOST}"), ("$HOST", "$HOST"), ("$", "$"), ("5 $ {x}", "5 $ {x}"), ("$$", "$$"), ("{}", "{}"),
        ("${HOST}}", "example.org}"),
        ("$${HOST}", "${HOST}"), ("$$${HOST}", "$example.org"), ("$$$${HOST}", "$${HOST}"), ("$${", "${"),
        ("${HOST}\u{301}", "example.org\u{301}"),
    ])
    func `A text gets their values, once`(written: String, expanded: String) {
        #expect(configured(.string(written)) == .string(expanded))
    }

    @Test func `Texts are found wherever they are, keys and other values stay`() {
        #expect(
            configured(["${HOST}": ["${HOST}", 1, ["k": "${HOST}"], nil]]) == [
                "${HOST}": ["example.org", 1, ["k": "example.org"], nil]
            ])
        let document = document([
            "className": "${_a1}", "version": "[${MAJOR:-1},)", "activation": "${WHEN:-lazy}", "uses": ["u": "${HOST}"],
            "communicationController": ["className": "C", "services": [["className": "S", "propertyName": "${_a1}"]]],
        ])
        #expect(document.problems.isEmpty)
        let manager = document.manifest.managers["M"]
        #expect(manager?.className == "x" && manager?.activation == .lazy && manager?.uses == ["u": "example.org"])
        #expect(manager?.version?.contains("1.0.0") == true)
        #expect(manager?.communicationController?.services[0].propertyName == "x")
        let plugins = ManifestDocument([
            "manifestVersion": 1, "plugins": [["library": "${_a1}"], "${_a1}"], "managers": [:],
        ]) {
            Self.values[$0]
        }
        #expect(plugins.manifest.plugins == ["x", "x"])
    }

    @Test(arguments: [
        ("${NONE}", "manifest.unset-variable: the variable `NONE` is not set; set it, or write `${NONE:-default}`"),
        (
            "${",
            "manifest.malformed-variable: `${` without a closing `}`; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${}",
            "manifest.malformed-variable: `${}` names no variable; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${A-x}",
            "manifest.malformed-variable: `${A-x}` names no variable; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${A:-${B}}",
            "manifest.malformed-variable: the default of `A` refers to a variable, which is not allowed; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
    ])
    func `One that cannot be had is the manager's error, at its text`(text: String, problem: String) {
        let document = document(["className": "M", "configuration": ["list": [.string(text)]]])
        #expect(summary(document.problems) == ["error M /managers/M/configuration/list/0: \(problem)"])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `All that are not set are reported, and nothing follows from it`() {
        let document = document(["className": "${A}${B}${A}", "version": "${C}", "uses": ["x": "${D}"]])
        #expect(
            document.problems.map { "\($0.error.location!) \($0.error.code) \($0.error.message.prefix(16))" } == [
                "/managers/M/className manifest.unset-variable the variable `A`",
                "/managers/M/className manifest.unset-variable the variable `B`",
                "/managers/M/uses/x manifest.unset-variable the variable `D`",
                "/managers/M/version manifest.unset-variable the variable `C`",
            ])
    }

    @Test func `With their values, a manifest is no larger than one may be`() {
        let many = ManifestValue.string(String(repeating: "${LARGE}", count: 1_000))
        let large = String(repeating: "x", count: 1 << 20)
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": ["a": many, "b": many]]],
        ]) { _ in large }
        #expect(
            summary(document.problems) == [
                "error M /managers/M/configuration/a: manifest.unsupported: with its variables expanded, the manifest is larger than 16 MB"
            ])
    }

    @Test func `Their values are in no message`() {
        let secret: ManifestValue = "${SECRET}"
        let catalogue = Catalogue(plugins: [.manager("M"), .communication("C"), .service("S"), .dataAccess("D")])
        let definitions: [ManifestValue] = [
            ["className": secret], ["className": "M", "version": secret], ["className": "M", "activation": secret],
            ["className": "M", "uses": ["x": secret]],
            ["className": "M", "dataAccessController": ["className": secret]],
            ["className": "M", "dataAccessController": ["className": "D", "namespace": "/${SECRET}"]],
            ["className": "M", "dataAccessController": ["className": "/${SECRET}"]],
            [
                "className": "M",
                "communicationController": [
                    "className": "C",
                    "services": [
                        ["className": "S", "propertyName": secret], ["className": secret, "propertyName": "x"],
                    ],
                ],
            ],
            [
                "className": "M",
                "communicationController": [
                    "className": "C",
                    "services": [
                        ["className": secret, "propertyName": secret], ["className": "S", "propertyName": secret],
                    ],
                ],
            ],
        ]
        for definition in definitions {
            let problems = Resolution(document(definition), catalogue: catalogue).problems
            #expect(problems.contains { $0.severity == .error })
            #expect(!"\(problems)".contains("swordfish"), "\(problems)")
            #expect("\(problems)".contains("${SECRET}"), "\(problems)")
        }
        let plugin = ManifestDocument([
            "manifestVersion": 1,
            "plugins": [["library": "A", "sha256": secret, "resources": "/${SECRET}", "version": secret]],
            "managers": [:],
        ]) { Self.values[$0] }
        #expect(plugin.problems.count == 3 && !"\(plugin.problems)".contains("swordfish"))
    }

    @Test func `Those of environments that are not chosen are not needed`() {
        let value: ManifestValue = [
            "manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": ["v": "${HOST}"]]],
            "environments": ["e": ["managers": ["M": ["configuration": ["v": "${NONE}"]]]]],
        ]
        let plain = ManifestDocument(value) { Self.values[$0] }
        #expect(plain.problems.isEmpty && plain.manifest.managers["M"]?.configuration == ["v": "example.org"])
        let chosen = ManifestDocument(value, environment: "e") { ["NONE": "here"][$0] }
        #expect(chosen.problems.isEmpty && chosen.manifest.managers["M"]?.configuration == ["v": "here"])
        #expect(
            summary(ManifestDocument(value, environment: "e") { _ in nil }.problems).map { $0.prefix(54) } == [
                "error M /environments/e/managers/M/configuration/v: ma"
            ])
    }

    @Test func `A manifest of Nemo Logic has none`() {
        let document = ManifestDocument(["M": ["className": "${M}"]]) { _ in "x" }
        #expect(document.problems.isEmpty && document.manifest.managers["M"]?.className == "${M}")
    }

    @Test func `Those of the process are taken when nothing else is said`() {
        let path = ManifestDocument.processVariable("PATH")
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": ["v": "${PATH}"]]],
        ])
        #expect(document.manifest.managers["M"]?.configuration["v"] == path.map { .string($0) })
    }
}
