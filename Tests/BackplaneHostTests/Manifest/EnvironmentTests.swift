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

    @Test func `A misspelt key in one that is not chosen is one warning`() {
        let problems = ManifestDocument([
            "manifestVersion": 1, "managers": [:], "environments": ["e": ["managers": ["N": ["clasName": "X"]]]],
        ]).rehearsal
        #expect(problems.map(\.error.location) == ["/environments/e/managers/N/clasName"])
        #expect(problems.map(\.severity) == [.warning])
    }
}
