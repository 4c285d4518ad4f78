import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

struct `The schema of manifests` {
    private let schema: JSONSchema

    init() throws { schema = try .ofManifests }

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
        for value in [`Reading a manifest`.whole, `Reading a manifest`.short]
            + (try texts.map { try ManifestValue(parsing: Data($0.utf8)) })
        {
            #expect(try schema.violations(in: value) == [])
            #expect(
                ManifestDocument(value) { _ in nil }.problems.allSatisfy { $0.error.code == .manifestUnsetVariable })
        }
    }

    @Test(arguments: 0..<200)
    func `Generated manifests are valid`(seed: UInt64) throws {
        var random = RandomManifest(seed)
        random.hasForeignKinds = true
        #expect(try schema.violations(in: random.manifest()) == [])
    }

    @Test func `It knows the keys that the reader knows, and no others`() throws {
        func keys(_ name: String) throws -> [String] {
            guard case .dictionary(let properties) = try schema.schema("#/$defs/\(name)")["properties"] else {
                return []
            }
            return properties.keys.sorted()
        }
        var ours: [(String, ManifestShape)] = [
            ("root", .root), ("environment", .environment), ("plugin", .plugin), ("manager", .manager),
            ("managerPatch", .manager), ("lockedClass", .lockedClass),
            ("dataAccessController", .dataAccessController), ("communicationController", .communicationController),
            ("service", .service),
        ]
        var credential: [String] = []
        for type in CredentialType.allCases {
            credential += type.shape.keys.filter { !credential.contains($0) }
        }
        ours += [("credential", ManifestShape(credential)), ("tokenRequest", .tokenRequest), ("cache", .cache)]
        for section in ManifestSection.all {
            ours += [(section.key, section.shape), ("\(section.key)Patch", section.shape)]
        }
        for (name, known) in ours { #expect(try keys(name) == known.keys.sorted(), "\(name)") }
        let theirs: [(String, ManifestShape)] = [
            ("nemoLogicManager", .manager), ("nemoLogicDataAccessController", .dataAccessController),
            ("nemoLogicCommunicationController", .communicationController), ("nemoLogicService", .service),
        ]
        for (name, known) in theirs { #expect(try keys(name) == known.known(isNemoLogic: true).sorted(), "\(name)") }
    }
}

extension JSONSchema {
    /// The schema of manifests, for editors.
    static var ofManifests: JSONSchema {
        get throws {
            let path = Examples.folder.deletingLastPathComponent().appending(path: "docs/manifest.schema.json")
            return JSONSchema(try ManifestValue(parsing: Data(contentsOf: path)))
        }
    }

    /// Returns whether the schema accepts a manifest.
    func accepts(_ manifest: String) throws -> Bool {
        try violations(in: ManifestValue(parsing: Data(manifest.utf8))).isEmpty
    }
}
