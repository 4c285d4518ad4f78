import Foundation
import TestFixtures
import Testing

/// `backplane convert`: a manifest as it is written, in another spelling.
@Suite(.timeLimit(.minutes(5)))
struct ConvertTests {
    private let tool: Tool
    private let odd = #"""
        {"manifestVersion": 1, "note": "${NONE}", "managers": {"M": {"clasName": "x", "className": "M"}}, "environments": {"e": {}}}
        """#

    init() throws { tool = try Tool() }

    @Test func `a property list becomes JSON, which is one again`() async throws {
        let json = try await tool.plain("convert", Tool.almanacList)
        #expect(json.status == 0 && json.errors == "")
        try expectSnapshot(json.output, "convert-almanac-json")
        let back = try await tool.plain("convert", try tool.write(json.output, as: "a.json"))
        #expect(back.status == 0)
        #expect(back.output == (try String(contentsOfFile: Tool.almanacList, encoding: .utf8)))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Runs it with a mask of its own.
    private func convert(mask: String, _ arguments: String...) throws -> Int32 {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments =
            ["-c", "umask \(mask); exec \"$@\"", "sh", BuiltProducts.folder + "/backplane", "convert"] + arguments
        try shell.run()
        shell.waitUntilExit()
        return shell.terminationStatus
    }

    @Test(arguments: [
        (0o664, "022", 0o644), (0o755, "000", 0o644),
    ])
    func `a new file is at most as readable as the old one and the mask allow`(
        source: Int, mask: String, new: Int
    ) throws {
        let path = try tool.write(odd, as: "odd.json"), target = tool.folder + "/out.json"
        try setMode(source, path)
        #expect(try convert(mask: mask, path, "--to", "json", "--output", target) == 0)
        #expect(try mode(target) == new)
    }

    @Test func `a file is written only over another when that is asked for`() async throws {
        let target = tool.folder + "/out.plist"
        #expect(try await tool.plain("convert", Tool.almanac, "--to", "binary", "--output", target).status == 0)
        let first = try Data(contentsOf: URL(filePath: target))
        #expect(first.starts(with: Data("bplist00".utf8)))
        let refused = try await tool.plain("convert", Tool.almanac, "--output", target)
        #expect(refused.status == 1 && refused.output == "")
        #expect(
            refused.errors
                == "backplane: \(target): manifest.unwritable: the file already exists; overwrite it with --force\n")
        #expect(try Data(contentsOf: URL(filePath: target)) == first)
        #expect(try await tool.plain("convert", Tool.almanac, "--output", target, "--force").status == 0)
        #expect(try Data(contentsOf: URL(filePath: target)).starts(with: Data("<?xml".utf8)))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tool.folder) == ["out.plist"], "nothing else is left")
        let nowhere = try await tool.plain("convert", Tool.almanac, "--output", tool.folder + "/none/out.plist")
        #expect(
            nowhere.status == 1
                && nowhere.errors.hasSuffix(
                    "manifest.unwritable: the manifest cannot be written: No such file or directory\n")
        )
        #expect(try await tool.plain("convert", Tool.almanac, "--output", "/dev/null", "--force").status == 1)
    }
}
