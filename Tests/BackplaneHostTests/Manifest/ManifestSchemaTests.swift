import Backplane
import BackplaneDocuments
import Foundation
import TestFixtures
import TestGenerators
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(5)))
struct `The schema of manifests` {
    private static let root = Examples.folder.deletingLastPathComponent()
    private let schema: JSONSchema

    init() throws {
        schema = JSONSchema(
            try ManifestValue(parsing: Data(contentsOf: Self.root.appending(path: "docs/manifest.schema.json"))))
    }

    @Test func `Every example is valid, in every spelling`() throws {
        for path in try Examples.paths() {
            let value = try ManifestValue(parsing: Data(contentsOf: URL(filePath: path)))
            #expect(try schema.violations(in: value) == [], "\(path)")
        }
    }

    @Test func `The sound manifests of the tests are valid`() throws {
        var texts = [`Environments of a manifest`.text]
        texts.append(
            #"{"$schema": "x", "manifestVersion": 1, "managers": {"M": {"className": "${CLASS}", "version": "${V}", "activation": "${A:-lazy}"}}, "lock": {"M": {"plugin": "p", "version": "1.0"}}}"#
        )
        for value in [`Reading a manifest`.whole] + (try texts.map { try ManifestValue(parsing: Data($0.utf8)) }) {
            #expect(try schema.violations(in: value) == [])
            #expect(
                ManifestDocument(value) { _ in nil }.problems.allSatisfy { $0.error.code == .manifestUnsetVariable })
        }
    }

    @Test(arguments: 0..<200)
    func `Generated manifests are valid`(seed: UInt64) throws {
        var random = RandomManifest(seed)
        random.hasForeignKinds = true
        #expect(try schema.violations(in: random.manifest().value) == [])
    }

    @Test(
        arguments: [
            ([], ": type"), (["manifestVersion": 1], "/managers: required"),
            (["manifestVersion": 2, "managers": [:]], "/manifestVersion: const"),
            (["manifestVersion": "1", "managers": [:]], "/manifestVersion: const"),
            (["manifestVersion": 1, "managers": []], "/managers: type"),
            (["manifestVersion": 1, "managers": [:], "plugin": []], "/plugin: false"),
            (["manifestVersion": 1, "managers": [:], "plugins": [[:]]], "/plugins/0/library: required"),
            (
                ["manifestVersion": 1, "managers": [:], "plugins": [["library": "A", "version": "1.2"]]],
                "/plugins/0/version: pattern"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "plugins": [["library": "A", "sha256": "12"]]],
                "/plugins/0/sha256: pattern"
            ),
            (["manifestVersion": 1, "managers": ["M": [:]]], "/managers/M/className: required"),
            (["manifestVersion": 1, "managers": ["M": ["className": ""]]], "/managers/M/className: minLength"),
            (
                ["manifestVersion": 1, "managers": ["M": ["className": "M", "activation": "late"]]],
                "/managers/M/activation: pattern"
            ),
            (
                ["manifestVersion": 1, "managers": ["M": ["className": "M", "uses": ["a": 1]]]],
                "/managers/M/uses/a: type"
            ),
            (
                ["manifestVersion": 1, "managers": ["M": ["className": "M", "dataAccessController": [:]]]],
                "/managers/M/dataAccessController/className: required"
            ),
            (
                [
                    "manifestVersion": 1,
                    "managers": [
                        "M": [
                            "className": "M",
                            "communicationController": ["className": "C", "services": [["className": "S"]]],
                        ]
                    ],
                ], "/managers/M/communicationController/services/0/propertyName: required"
            ),
            (
                ["manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": nil]]],
                "/managers/M/configuration: type"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "environments": ["e": ["lock": [:]]]],
                "/environments/e/lock: false"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "environments": ["e": ["managers": ["M": ["clasName": "x"]]]]],
                "/environments/e/managers/M/clasName: false"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "lock": ["M": ["plugin": "p", "version": "[1,2)"]]],
                "/lock/M/version: pattern"
            ),
            (["manifestVersion": 1, "managers": [:], "store": ["damaged": "repair"]], "/store/damaged: pattern"),
            (
                ["manifestVersion": 1, "managers": [:], "network": ["traced": ["http://a"]]],
                "/network/traced/0: pattern"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "network": ["filters": [["hosts": ["a.test"]]]]],
                "/network/filters/0/manager: required"
            ),
            (
                ["manifestVersion": 1, "managers": [:], "network": ["filters": [["manager": "F", "host": "a"]]]],
                "/network/filters/0/host: false"
            ),
            (["manifestVersion": 1, "managers": [:], "network": ["observers": [1]]], "/network/observers/0: type"),
            (["manifestVersion": 1, "managers": [:], "store": ["damagd": "refuse"]], "/store/damagd: false"),
            (
                ["manifestVersion": 1, "managers": [:], "environments": ["e": ["store": ["damagd": "refuse"]]]],
                "/environments/e/store/damagd: false"
            ),
            (["managers": ["M": ["className": "M"]]], "/managers/M: false"),
            (["M": ["className": "M", "uses": [:]]], "/M/uses: false"), (["M": "M"], "/M: type"),
        ] as [(ManifestValue, String)])
    func `A broken manifest is not valid, and the reader finds something too`(value: ManifestValue, violation: String)
        throws
    {
        let violations = try schema.violations(in: value)
        #expect(violations.contains(violation), "\(violations)")
        #expect(!ManifestDocument(value).problems.isEmpty)
    }

    @Test func `It knows the keys that the reader knows, and no others`() throws {
        func keys(_ name: String) throws -> [String] {
            guard case .dictionary(let properties) = try schema.schema("#/$defs/\(name)")["properties"] else {
                return []
            }
            return properties.keys.sorted()
        }
        var ours: [(String, ManifestKeys)] = [
            ("root", .root), ("environment", .environment), ("plugin", .plugin), ("manager", .manager),
            ("managerPatch", .manager), ("lockedClass", .lockedClass),
            ("dataAccessController", .dataAccessController), ("communicationController", .communicationController),
            ("service", .service),
        ]
        var credential: [String] = []
        for type in CredentialType.allCases {
            credential += type.keys.all.filter { !credential.contains($0) }
        }
        ours += [("credential", ManifestKeys(credential)), ("tokenRequest", .tokenRequest)]
        for section in ManifestSection.all {
            ours += [(section.key, section.keys), ("\(section.key)Patch", section.keys)]
        }
        for (name, known) in ours { #expect(try keys(name) == known.all.sorted(), "\(name)") }
        let theirs: [(String, ManifestKeys)] = [
            ("nemoLogicManager", .manager), ("nemoLogicDataAccessController", .dataAccessController),
            ("nemoLogicCommunicationController", .communicationController), ("nemoLogicService", .service),
        ]
        for (name, known) in theirs { #expect(try keys(name) == known.known(in: .nemoLogic).sorted(), "\(name)") }
    }

    @Test func `A keyword that the validator does not know is an error`() {
        let schema = JSONSchema(["properties": ["a": ["multipleOf": 2]]])
        #expect(throws: JSONSchema.UnknownKeyword.self) { try schema.violations(in: ["a": 1]) }
    }
}
