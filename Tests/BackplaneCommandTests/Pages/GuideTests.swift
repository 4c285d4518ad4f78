import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// What the chapters of docs/guide have a reader enter and save, followed literally and in their order in one folder.
@Suite(.nightly, .timeLimit(.minutes(60)))
struct GuideTests {
    private static let chapters = ["1-first-hour", "2-features", "3-network", "4-data", "5-operate"]
    private let tool: Tool
    private let packages: PackagesFolder
    private let reader: Reader

    init() throws {
        tool = try Tool()
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
    }

    @Test func `the five chapters do what they say`() async throws {
        for chapter in Self.chapters {
            let path = "docs/guide/\(chapter).md"
            // The others are followed, too, if one is missing or can't be followed to its end.
            do { try await follow(Page(path).blocks) } catch { Issue.record(error, "\(path)") }
        }
        #expect(packages.fetched() == ["swift-argument-parser"])
    }

    /// Follows a chapter, with a program of it beside: `dev` or `serve` starts one, which ends at the next one, at
    /// `ends` or with the chapter.
    private func follow(_ blocks: [Page.Block]) async throws {
        var printed = "", program: RunningTool?, line = 0
        let address = "127.0.0.1:\(try LoopbackSocket(backlog: nil).port)"
        for var block in blocks {
            block.text.replace("127.0.0.1:8080", with: address)
            // While `new` writes one file after the other, `backplane dev` would build some of them.
            if block.kind == "run", block.text.contains("backplane new") {
                program?.signal(SIGSTOP)
            } else if block.kind != "shows" {
                program?.signal(SIGCONT)
            }
            switch block.kind {
            case "run": printed = try reader.run(block.text)
            case "fails": printed = try reader.run(block.text, fails: true)
            case "shows":
                let text = block.text.trimmingCharacters(in: .newlines)
                #expect(printed.contains(text), "\(printed) has not\n\(text)")
            case "output": #expect(Self.ends(printed, with: block.text), "\(printed) is not\n\(block.text)")
            case "dev", "serve":
                await end(program)
                (program, line) = (try start(block), 0)
                #expect(await program?.says(block.kind == "dev" ? "  running  " : "up;") == true, "\(block.text)")
            case "says":
                for text in block.text.split(separator: "\n") {
                    // It may say other things in between.
                    while true {
                        let next = try #require(
                            await program?.line(line),
                            "`\(text)` was not said: \(program?.output ?? "")\(program?.errors ?? "")")
                        line += 1
                        if Self.withoutFigures(next) == Self.withoutFigures(text) { break }
                    }
                }
            case "ends":
                await end(program)
                program = try start(block)
                #expect(await program?.says("up; stop with control-C") == true)
                await end(program)
                program = nil
            default: try reader.write(block)
            }
        }
        await end(program)
    }

    private func end(_ program: RunningTool?) async {
        guard let program else { return }
        program.signal(SIGCONT)
        program.signal(SIGTERM)
        #expect(await program.end().status == 0)
    }

    /// Enters what stands in the last line, in the folder of the line before.
    private func start(_ block: Page.Block) throws -> RunningTool {
        let lines = block.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(lines.count == 2 && lines[0].first == "cd")
        return try RunningTool(
            lines[1], of: "/usr/bin/env", input: nil, environment: reader.environment,
            in: "\(packages.path)/\(lines[0][1])")
    }

    /// Whether the last lines are these, or the same values in JSON; the order of keys and ages are nobody's.
    private static func ends(_ printed: String, with text: String) -> Bool {
        let lines = text.split(separator: "\n"), last = printed.split(separator: "\n").suffix(lines.count)
        return last.count == lines.count
            && zip(last, lines).allSatisfy { printed, line in
                guard let value = value(line) else { return printed == line }
                return Self.value(printed) == value
            }
    }

    private static func value(_ line: Substring) -> NSObject? {
        let line = line.replacing(/"age":[0-9.e-]+/, with: "\"age\":0")
        return try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSObject
    }

    /// Times and sizes differ from run to run, and so does whether a manifest is applied with a library or just after.
    private static func withoutFigures(_ text: some StringProtocol) -> String {
        let change = text.ranges(of: "the manifest: ").first.map { String(text[$0.lowerBound...]) }
        return (change ?? String(text)).replacing(/\d+([.:]\d+)*( ms| s)?/, with: "0")
    }
}
