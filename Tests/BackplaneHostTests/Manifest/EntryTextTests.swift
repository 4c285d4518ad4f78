import Backplane
import BackplaneDocuments
import BackplaneHost
import Foundation
import TestFixtures
import Testing

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
