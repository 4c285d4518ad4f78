import Backplane
import BackplaneDocuments
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
