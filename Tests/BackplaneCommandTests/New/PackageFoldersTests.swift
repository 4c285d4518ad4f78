import Foundation
import Testing

@testable import BackplaneTools

/// Where the sources of targets are, as SwiftPM looks for them.
struct PackageFoldersTests {
    private let tool: Tool
    private var root: String { tool.folder + "/here" }

    init() throws { tool = try Tool() }

    private func make(_ folders: [String]) throws {
        for folder in [""] + folders {
            try FileManager.default.createDirectory(atPath: root + "/" + folder, withIntermediateDirectories: true)
        }
    }

    private func facts(_ targets: [(name: String, type: String, path: String?)], tools: String = "6.3.0") throws
        -> PackageFacts
    {
        let rows = targets.map { name, type, path in
            #"{"name": "\#(name)", "type": "\#(type)", "dependencies": [], "exclude": []\#(path.map { #", "path": "\#($0)""# } ?? "")}"#
        }
        let text =
            #"{"name": "a", "products": [], "dependencies": [], "toolsVersion": {"_version": "\#(tools)"}, "targets": [\#(rows.joined(separator: ", "))]}"#
        return try JSONDecoder().decode(PackageFacts.self, from: Data(text.utf8))
    }

    private func folders(_ facts: PackageFacts) -> [String] { facts.targets.map { facts.folder(of: $0, in: root) } }

    @Test(arguments: [
        (["Sources/A", "Sources/B", "Sources/T"], ["Sources/A", "Sources/B", "Sources/T"]),
        (["src/A", "src/T"], ["src/A", "src/B", "src/T"]),
        (["Source/A", "Tests/T"], ["Source/A", "Source/B", "Tests/T"]),
        (["srcs/A", "src/A", "src/T"], ["src/A", "src/B", "src/T"]),
        (["Tests/T"], ["Sources/A", "Sources/B", "Tests/T"]),
    ])
    func `a target has a folder of its name in the first folder of sources that is there`(
        there: [String], expected: [String]
    ) throws {
        try make(there)
        #expect(folders(try facts([("A", "regular", nil), ("B", "executable", nil), ("T", "test", nil)])) == expected)
    }

    @Test func `the only target of its kind has all of the folder, until it has one of its own there`() throws {
        try make(["Sources", "Tests"])
        let targets: [(String, String, String?)] = [("A", "regular", nil), ("T", "test", nil)]
        #expect(folders(try facts(targets)) == ["Sources", "Tests"])
        #expect(folders(try facts(targets, tools: "5.8.0")) == ["Sources/A", "Tests/T"])
        #expect(folders(try facts(targets + [("B", "regular", nil)])) == ["Sources/A", "Tests", "Sources/B"])
        try make(["Sources/A"])
        #expect(folders(try facts(targets)) == ["Sources/A", "Tests"])
    }

    @Test func `what a target says holds`() throws {
        try make(["Sources"])
        #expect(
            folders(
                try facts([
                    ("A", "regular", "Plugins/A"), ("B", "regular", ""), ("T", "test", "Sources/A/Tests"),
                ])) == ["Plugins/A", ".", "Sources/A/Tests"])
    }

    @Test func `tests that are new get a folder for tests where none stand among sources`() throws {
        try make(["src"])
        #expect(try facts([("A", "regular", nil)]).newHolder(of: .test, in: root) == "Tests")
        #expect(try facts([("A", "regular", nil), ("T", "test", nil)]).newHolder(of: .test, in: root) == "src")
        #expect(try facts([("A", "regular", nil)]).newHolder(of: .source, in: root) == "src")
    }
}
