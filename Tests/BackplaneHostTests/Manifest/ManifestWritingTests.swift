import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The manifests of this repository.
enum Examples {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../manifests")
        .standardizedFileURL

    static func paths() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".json") || $0.hasSuffix(".plist")
        }.sorted()
            .map { folder.appending(path: $0).path }
    }
}

struct `Writing a manifest` {
    @Test(arguments: 0..<300)
    func `Manifests of every kind read as they were`(seed: UInt64) throws {
        for format in ManifestFormat.allCases {
            var random = RandomManifest(seed)
            (random.hasForeignKinds, random.hasNull) = (format != .json, format == .json)
            let manifest = random.manifest(), bytes = try manifest.encoded(as: format)
            #expect(
                try ManifestValue(parsing: bytes) == manifest,
                "seed \(seed) as \(format)\n\(String(decoding: bytes, as: UTF8.self))")
            #expect(ManifestDocument(parsing: bytes) { _ in nil }.problems == [])
            #expect(try manifest.encoded(as: format) == bytes, "the same bytes for the same manifest")
        }
    }

    @Test func `JSON is in the order of the schema, flat values on one line`() throws {
        let value: ManifestValue = [
            "zoo": nil,
            "managers": [
                "B": [
                    "communicationController": [
                        "services": [["propertyName": "p", "className": "S"]], "className": "C",
                    ], "uses": ["b": "A", "a": "A"], "className": "M",
                ],
                "A": [
                    "configuration": [
                        "list": [1, 2.5, "three"], "empty": [:], "deep": [[]],
                        "text": .string(String(repeating: "x", count: 80)),
                    ], "className": "M",
                ],
            ], "manifestVersion": 1, "plugins": [["version": "[1,2)", "library": "L"]],
            "environments": ["e": ["managers": [:], "plugins": []]],
        ]
        #expect(
            try String(decoding: value.encoded(as: .json), as: UTF8.self) == """
                {
                  "manifestVersion": 1,
                  "plugins": [
                    { "library": "L", "version": "[1,2)" }
                  ],
                  "managers": {
                    "A": {
                      "className": "M",
                      "configuration": {
                        "deep": [[]],
                        "empty": {},
                        "list": [1, 2.5, "three"],
                        "text": "\(String(repeating: "x", count: 80))"
                      }
                    },
                    "B": {
                      "className": "M",
                      "uses": { "a": "A", "b": "A" },
                      "communicationController": {
                        "className": "C",
                        "services": [
                          { "className": "S", "propertyName": "p" }
                        ]
                      }
                    }
                  },
                  "environments": {
                    "e": { "plugins": [], "managers": {} }
                  },
                  "zoo": null
                }

                """)
    }

    @Test(
        arguments: [
            (.xml, nil, "a property list cannot represent null; omit the key, or keep the manifest in JSON"),
            (.binary, nil, "a property list cannot represent null; omit the key, or keep the manifest in JSON"),
            (.json, .number(.infinity), "a document cannot represent the number inf"),
            (.xml, .number(.nan), "a document cannot represent the number nan"),
            (.xml, "$null", "an XML property list cannot represent the text `$null`; JSON can"),
            (.xml, "a\u{1}", "XML cannot represent the character U+1; a binary property list or JSON can"),
            (.xml, "\u{FFFE}", "XML cannot represent the character U+FFFE; a binary property list or JSON can"),
            (.xml, ["\0": 1], "XML cannot represent the character U+0; a binary property list or JSON can"),
            (
                .xml, .date(Date(timeIntervalSinceReferenceDate: 0.5)),
                "an XML property list can represent only whole seconds in the years 1 to 9999; a binary one can represent any date"
            ),
            (
                .xml, .date(.distantFuture + 1e12),
                "an XML property list can represent only whole seconds in the years 1 to 9999; a binary one can represent any date"
            ),
        ] as [(ManifestFormat, ManifestValue, String)])
    func `What a format cannot hold is an error at its place`(
        format: ManifestFormat, value: ManifestValue, words: String
    ) throws {
        let error = try #require(throws: BackplaneError.self) {
            try (["a": ["b/c": [1, value]]] as ManifestValue).encoded(as: format)
        }
        #expect(error.code == .manifestUnsupported && error.message == words)
        #expect(error.location?.hasPrefix("/a/b~1c/1") == true)
    }

    @Test func `A Nemo Logic manifest is upgraded to equal managers, and keys that take effect are reported`() throws {
        let value: ManifestValue = [
            "M": ["className": "${M}", "uses": ["a": "N"], "comment": 1], "N": ["className": "N"],
        ]
        #expect(value.isNemoLogic && !value.upgraded.isNemoLogic)
        #expect(value.keysThatAnUpgradeWakes == ["/M/uses"])
        let upgraded = ManifestDocument(value.upgraded) { _ in nil }.manifest
        #expect(upgraded.managers["M"]?.className == "${M}" && upgraded.managers["M"]?.uses == ["a": "N"])
        #expect(upgraded.managers["N"] == ManifestDocument(value).manifest.managers["N"])
    }

    @Test func `What a manifest need not say is left out`() throws {
        func manifest(_ plugin: ManifestValue, _ manager: ManifestValue, _ key: String) -> ManifestValue {
            [
                "manifestVersion": 1, "plugins": [plugin, ["library": "B", "version": "[1.2]"]],
                "managers": [
                    "M": manager, "N": ["className": "M"], "O": ["className": "O", "clasname": "P"],
                    "${P}": ["className": "${P}"],
                    "Q": ["communicationController": ["className": "C", "services": [["className": "S", key: [:]]]]],
                ],
                "environments": ["e": ["managers": ["M": ["className": "M"]]]],
            ]
        }
        let long = manifest(["library": "A"], ["className": "M"], "networkServiceConfiguration")
        let short = manifest("A", [:], "configuration")
        #expect(long.shortened == short && short.shortened == short)
        let nemo: ManifestValue = ["M": ["className": "M"]]
        #expect(nemo.shortened == nemo)
    }
}

/// Plugins and managers that are put into a manifest as it is written.
struct EntryTextTests {
    private let tide: [String: ManifestValue] = [
        "TidesManager": ["className": "TidesManager", "dataAccessController": ["className": "TideStore"]]
    ]

    private func adding(_ library: String?, _ managers: [String: ManifestValue], to text: String) throws -> String {
        String(decoding: try ManifestText.add(library: library, managers: managers, to: Data(text.utf8)), as: UTF8.self)
    }

    @Test func `they come last, in the manner of those that are there`() throws {
        let text = """
            {
                "manifestVersion": 1,
                "note" : "mine",   "plugins": [
                    {"library": "A"}
                ],
                "managers": {
                    "A": {"className":"A"}
                }, "environments": {}
            }
            """
        #expect(
            try adding("Tides", tide, to: text) == """
                {
                    "manifestVersion": 1,
                    "note" : "mine",   "plugins": [
                        {"library": "A"},
                        "Tides"
                    ],
                    "managers": {
                        "A": {"className":"A"},
                        "TidesManager": {
                            "className": "TidesManager",
                            "dataAccessController": { "className": "TideStore" }
                        }
                    }, "environments": {}
                }
                """)
    }

    @Test func `empty lists are opened, and those on one line stay there`() throws {
        #expect(
            try adding(
                "Tides", ["M": ["className": "M"]],
                to: #"{"manifestVersion": 1, "plugins": [], "managers": {"A": {"className": "A"}}}"#) == """
                    {"manifestVersion": 1, "plugins": [
                      "Tides"
                    ], "managers": {"A": {"className": "A"}, "M": { "className": "M" }}}
                    """)
    }

    @Test func `a library is not named twice, nor where no plugins are named at all`() throws {
        let named =
            #"{"manifestVersion": 1, "plugins": [{"library": "Tides", "version": "[1.0,2.0)"}], "managers": {}}"#
        #expect(try adding("Tides", [:], to: named) == named)
        let short = #"{"manifestVersion": 1, "plugins": ["Tides"], "managers": {}}"#
        #expect(try adding("Tides", [:], to: short) == short)
        let open = #"{"manifestVersion": 1, "managers": {}}"#
        #expect(try adding("Tides", [:], to: open) == open)
    }

    @Test func `a byte order mark and its lines' ends stay`() throws {
        let text =
            "\u{FEFF}{\r\n  \"manifestVersion\": 1,\r\n  \"managers\": {\r\n    \"A\": { \"className\": \"A\" }\r\n  }\r\n}"
        #expect(
            try adding(nil, ["M": ["className": "M"]], to: text)
                == text.replacing("\"A\" }\r\n", with: "\"A\" },\r\n    \"M\": { \"className\": \"M\" }\r\n"))
    }

    @Test(arguments: ["\n", "\r\n"], ["\t", "  ", "   ", "    "])
    func `added lines end as the others do, and are moved in as they are`(lineEnd: String, step: String) throws {
        func inManner(_ lines: String...) -> String {
            lines.joined(separator: "\n").replacing(">", with: step).replacing("\n", with: lineEnd)
        }
        let text = inManner(
            "{", ">\"manifestVersion\": 1,", ">\"plugins\": [],", ">\"managers\": {", ">>\"A\": {\"className\":\"A\"}",
            ">}", "}")
        let library = [">\"plugins\": [", ">>\"Tides\"", ">],"].joined(separator: "\n")
        let manager = [
            ">>\"TidesManager\": {", ">>>\"className\": \"TidesManager\",",
            ">>>\"dataAccessController\": { \"className\": \"TideStore\" }", ">>}",
        ]
        .joined(separator: "\n")
        #expect(
            try adding("Tides", tide, to: text)
                == inManner(
                    "{", ">\"manifestVersion\": 1,", library, ">\"managers\": {", ">>\"A\": {\"className\":\"A\"},",
                    manager, ">}", "}"))
    }

    @Test(arguments: [
        (
            #"{"manifestVersion": 1, "managers": {"TidesManager": {"className": "X"}}}"#,
            BackplaneError.Code.manifestMalformed
        ),
        (#"{"manifestVersion": 1}"#, .manifestMissingKey),
        (#"{"manifestVersion": 1, "managers": []}"#, .manifestMissingKey),
        (#"{"TidesManager": {"className": "X"}}"#, .manifestUnsupported), ("{", .manifestMalformed),
        ("[]", .manifestUnsupported),
        ("<?xml version=\"1.0\"?><plist><dict/></plist>", .manifestUnsupported),
    ])
    func `a manifest that they do not go into is refused`(text: String, code: BackplaneError.Code) {
        let error = #expect(throws: BackplaneError.self) { try adding("Tides", tide, to: text) }
        #expect(error?.code == code)
    }
}

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
