import Foundation
import Testing

/// What the README and the page on testing say a reader can write and run, followed literally.
///
/// In the build without engines only: it builds plugins and a program of their own, and once is enough.
#if !Engines
@Suite(.timeLimit(.minutes(10)))
struct ReadmeTests {
    /// A block of a page with something after its language: `swift file=…`, `sh run`, `text output`.
    private struct Block {
        var kind: Substring
        var text: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    private static func blocks(of page: String) throws -> [Block] {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
            .matches(of: /```\w+ ([^\n]+)\n([\s\S]*?)```/)
            .map { Block(kind: $0.output.1, text: String($0.output.2)) }
    }

    @Test func `a plugin and a host, from nothing, say what the README says`() async throws {
        let tool = try Tool()
        try makeCheckout(in: tool.folder)
        var printed = "", checked = 0
        for block in try Self.blocks(of: "README.md") {
            if block.kind.hasPrefix("file=") {
                try write(block, in: tool.folder)
            } else if block.kind == "run" {
                printed = try run(block.text, in: tool.folder)
            } else if block.kind == "output" {
                #expect(printed.hasSuffix(block.text), "\(printed)")
                checked += 1
            }
        }
        #expect(checked == 2, "the README shows what two runs print")
    }

    @Test func `a plugin and its tests, from nothing, pass as the page on testing says`() async throws {
        let tool = try Tool()
        try makeCheckout(in: tool.folder)
        var printed = ""
        for block in try Self.blocks(of: "docs/testing.md") {
            if block.kind.hasPrefix("file=") { try write(block, in: tool.folder) }
            if block.kind == "run" { printed += try run(block.text, in: tool.folder) }
        }
        #expect(printed.contains("it greets by the hour") && printed.contains("1 test"), "\(printed)")
    }

    private func write(_ block: Block, in folder: String) throws {
        let file = URL(filePath: folder).appending(path: block.kind.dropFirst("file=".count))
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(block.text.utf8).write(to: file)
    }

    /// A checkout as a reader has it: the package, and what was built of it.
    private func makeCheckout(in folder: String) throws {
        let checkout = URL(filePath: folder).appending(path: "backplane")
        try FileManager.default.createDirectory(at: checkout.appending(path: ".build"), withIntermediateDirectories: true)
        for name in ["Package.swift", "Sources", "Plugins", "Tests"] {
            try FileManager.default.createSymbolicLink(at: checkout.appending(path: name), withDestinationURL: Self.root.appending(path: name))
        }
        try FileManager.default.createSymbolicLink(at: checkout.appending(path: ".build/debug"), withDestinationURL: URL(filePath: Tool.built))
    }

    /// Runs lines of a shell and gives what they print on standard output.
    private func run(_ lines: String, in folder: String) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-e", "-c", lines]
        process.currentDirectoryURL = URL(filePath: folder)
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": folder + "/state"]) { $1 }
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(lines)")
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
