import Foundation
import TestFixtures
import Testing

/// What is said about every mistake that the frameworks before this one answered with nothing, an assertion or a crash.
@Suite(.timeLimit(.minutes(10)))
struct MistakeTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// What it is, and the managers with it, beside plugins that are sound.
    private static let managers: [(String, String)] = [
        (
            "nothing wrong: layers that the class takes if they are there, and none",
            #""M": { "className": "ChallengeManager" }, "N": { "className": "TrialManager" }"#
        ),
        ("a manager that is no dictionary", #""M": "ChallengeManager""#),
        (
            "a missing class name, of every layer",
            #""M": { "dataAccessController": { "namespace": "m" }, "communicationController": { "services": [{ "propertyName": "challengeService" }] } }"#
        ),
        ("an empty class name", #""M": { "className": "" }"#),
        ("an empty data access controller", #""M": { "className": "ChallengeManager", "dataAccessController": {} }"#),
        (
            "an empty communication controller",
            #""M": { "className": "ChallengeManager", "communicationController": {} }"#
        ),
        (
            "an empty service",
            #""M": { "className": "ChallengeManager", "communicationController": { "className": "ChallengeCommunication", "services": [{}] } }"#
        ),
        (
            "values of the wrong type",
            #""M": { "className": 1, "version": 1.2, "activation": true, "uses": [], "configuration": "x", "dataAccessController": [], "communicationController": null }"#
        ),
        (
            "services that are no array, and one that is no dictionary",
            #""M": { "className": "ChallengeManager", "communicationController": { "className": "ChallengeCommunication", "services": {} } }, "N": { "className": "ChallengeManager", "communicationController": { "className": "ChallengeCommunication", "services": ["ChallengeService"] } }"#
        ),
        (
            "an unknown class, almost right, and not at all",
            #""M": { "className": "ChalengeManager" }, "N": { "className": "Zoo" }"#
        ),
        (
            "classes of the wrong role",
            #""M": { "className": "ChallengeDataAccess" }, "N": { "className": "ChallengeManager", "dataAccessController": { "className": "ChallengeService" }, "communicationController": { "className": "TrialManager" } }"#
        ),
        (
            "versions out of range",
            #""M": { "className": "ChallengeManager", "version": "[2.0,3.0)" }, "N": { "className": "ChallengeManager", "dataAccessController": { "className": "ChallengeDataAccess", "version": "[1.0,1.4)" } }"#
        ),
        (
            "versions that are no ranges",
            #""M": { "className": "ChallengeManager", "version": "1.2" }, "N": { "className": "ChallengeManager", "version": "[2.0,1.0]" }"#
        ),
        ("an activation that is none", #""M": { "className": "ChallengeManager", "activation": "later" }"#),
        ("a use that the class needs and does not get", #""M": { "className": "RelayManager" }"#),
        (
            "uses of a manager that is not there, of one with a fault, of one of another contract",
            #""Trials": { "className": "TrialManager" }, "Broken": { "className": "Zoo" }, "M": { "className": "RelayManager", "uses": { "trials": "Trails" } }, "N": { "className": "RelayManager", "uses": { "trials": "Broken" } }, "O": { "className": "RelayManager", "uses": { "trials": "M" } }"#
        ),
        (
            "a use that the class does not have",
            #""M": { "className": "TrialManager", "uses": { "clock": "M2" } }, "M2": { "className": "TrialManager" }"#
        ),
        (
            "a circle",
            #""A": { "className": "RelayManager", "uses": { "trials": "B" } }, "B": { "className": "RelayManager", "uses": { "trials": "A" } }, "C": { "className": "RelayManager", "uses": { "trials": "C" } }"#
        ),
        (
            "properties: unknown, given twice, of another contract",
            #""M": { "className": "ChallengeManager", "communicationController": { "className": "ChallengeCommunication", "services": [{ "className": "ChallengeService", "propertyName": "chalengeService" }] } }, "N": { "className": "ChallengeManager", "communicationController": { "className": "ChallengeCommunication", "services": [{ "className": "ChallengeService", "propertyName": "secondService" }, { "className": "ChallengeService", "propertyName": "secondService" }] } }"#
        ),
        (
            "a layer that the class does not take",
            #""M": { "className": "TrialManager", "dataAccessController": { "className": "ChallengeDataAccess" } }"#
        ),
        (
            "one folder for two controllers, and one that cannot be a folder",
            #""M": { "className": "ChallengeManager", "dataAccessController": { "className": "ChallengeDataAccess" } }, "N": { "className": "ChallengeManager", "dataAccessController": { "className": "ChallengeDataAccess", "configuration": { "a": 1 } } }, "O": { "className": "ChallengeManager", "dataAccessController": { "className": "ChallengeDataAccess", "namespace": "a/b" } }"#
        ),
        (
            "unknown keys",
            #""M": { "className": "ChallengeManager", "clasName": "x", "dataAccessController": { "className": "ChallengeDataAccess", "keep": 5 } }"#
        ),
        (
            "a variable that is not set, and one that is none",
            #""M": { "className": "${BACKPLANE_TEST_UNSET}", "configuration": { "a": "${b c}" } }"#
        ),
    ]

    /// Whole files.
    private static let files: [(String, String)] = [
        ("nothing in it", ""), ("not a dictionary", "[]"), ("not JSON", "{ \"manifestVersion\": 1,\n  managers: {} }"),
        ("a key given twice", "{\n  \"A\": {},\n  \"A\": {}\n}"),
        ("no managers", #"{ "manifestVersion": 1 }"#),
        ("managers that are no dictionary", #"{ "manifestVersion": 1, "managers": [] }"#),
        ("a version that is not supported", #"{ "manifestVersion": 2, "managers": {} }"#),
        ("a version that is no number", #"{ "manifestVersion": "1", "managers": {} }"#),
        ("no version", #"{ "managers": { "M": { "className": "M" } } }"#),
        (
            "plugins of the wrong type",
            #"{ "manifestVersion": 1, "plugins": ["_Challenge", {}, { "library": 1 }], "managers": {} }"#
        ),
        ("a property list that is no dictionary", "<plist><array/></plist>"),
        ("a property list that ends early", "<plist>\n<dict>\n<key>M</key>\n</plist>"),
        (
            "a property list of Nemo Logic's",
            "<plist><dict><key>M</key><dict><key>dataAccessController</key><dict/></dict></dict></plist>"
        ),
        (
            "environments that are none",
            #"{ "manifestVersion": 1, "plugins": [], "managers": {}, "environments": { "a": 1, "b": { "lock": {} }, "c": { "managers": { "M": true } } } }"#
        ),
        (
            "a lock that is none",
            #"{ "manifestVersion": 1, "plugins": [], "managers": {}, "lock": { "M": { "plugin": "p", "version": "new" }, "N": { "version": "1.0.0" } } }"#
        ),
    ]

    private func report(_ title: String, _ text: String) async throws -> String {
        let path = try tool.write(text, as: "m")
        let outcome = try await tool.run("check", path)
        #expect(outcome.errors == "")
        return "# \(title)\n\(text)\n\n\(outcome.output.replacing(path, with: "manifest"))\n"
    }

    @Test func `every mistake of a manager is said with its place and what to do`() async throws {
        var text = ""
        for (title, managers) in Self.managers {
            text += try await report(
                title,
                "{ \"manifestVersion\": 1, \"plugins\": [{ \"library\": \"_Challenge\" }], \"managers\": { \(managers) } }"
            )
        }
        try expectSnapshot(text, "mistakes-of-managers")
    }

    @Test func `every mistake of a file is said with its place and what to do`() async throws {
        let missing = try await tool.run("check", tool.folder + "/none")
        var text = "# no file\n\n\(missing.output.replacing(tool.folder + "/none", with: "manifest"))\n"
        for (title, file) in Self.files { text += try await report(title, file) }
        try expectSnapshot(text, "mistakes-of-files")
    }

    @Test func `a manager that is asked for and is not there, or cannot be made, is an error on its own`() async throws
    {
        let managers =
            #""LibraryManager": { "className": "TrialManager" }, "ClockManager": { "className": "Clock" }, "M": { "dataAccessController": {} }"#
        let path = try tool.write(
            "{ \"manifestVersion\": 1, \"plugins\": [{ \"library\": \"_Challenge\" }], \"managers\": { \(managers) } }",
            as: "m.json")
        var text = ""
        for name in ["LibaryManager", "ClockManager", "M"] {
            let outcome = try await tool.run("call", path, name, "now")
            #expect(outcome.status == 1 && outcome.output == "")
            text += "# \(name)\n\(outcome.errors.replacing(path, with: "manifest"))\n"
        }
        try expectSnapshot(text, "mistakes-of-calls")
    }
}
