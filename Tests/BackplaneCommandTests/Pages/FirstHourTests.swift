import Foundation
import TestFixtures
import Testing

/// What docs/first-hour.md has a reader enter and save, followed literally, with `backplane dev` beside it.
@Suite(.nightly, .timeLimit(.minutes(30)))
struct FirstHourTests {
    private let tool: Tool
    private let packages: PackagesFolder
    private let reader: Reader

    init() throws {
        tool = try Tool()
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
    }

    @Test func `an application comes into being, and what is saved runs`() async throws {
        let blocks = try Page("docs/first-hour.md").blocks
        var printed = "", outputs = 0, dev: RunningTool?, line = 0
        for block in blocks {
            // While its files are not as the page has them, `dev` may build them and say other things.
            if block.kind == "run", block.text.contains("backplane new") { dev?.signal(SIGSTOP) }
            if block.kind != "run", block.kind != "shows" { dev?.signal(SIGCONT) }
            switch block.kind {
            case "run": printed = try reader.run(block.text)
            case "shows": #expect(printed.contains(block.text), "\(printed) has not\n\(block.text)")
            case "output":
                #expect(try Self.values(printed) == Self.values(block.text), "\(printed) is not\n\(block.text)")
                outputs += 1
            case "dev": dev = try start(block)
            case "says":
                for text in block.text.split(separator: "\n") {
                    // It may say other things in between.
                    while true {
                        let next = try #require(
                            await dev?.line(line), "`\(text)` was not said: \(dev?.output ?? "")\(dev?.errors ?? "")")
                        line += 1
                        if Self.withoutFigures(next) == Self.withoutFigures(text) { break }
                    }
                }
            case "ends":
                dev?.signal(SIGTERM)
                #expect(await dev?.end().status == 0)
                let program = try start(block)
                #expect(await program.says("up; stop with control-C"))
                program.signal(SIGTERM)
                #expect(await program.end().status == 0)
            default: try reader.write(block)
            }
        }
        #expect(outputs == 4)
        #expect(packages.fetched() == ["swift-argument-parser"])
    }

    /// Enters what stands in the last line, in the folder of the line before.
    private func start(_ block: Page.Block) throws -> RunningTool {
        let lines = block.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(lines.count == 2 && lines[0].first == "cd")
        return try RunningTool(
            lines[1], of: "/usr/bin/env", input: nil, environment: reader.environment,
            in: "\(packages.path)/\(lines[0][1])")
    }

    /// A line of JSON each; the order of keys is nobody's.
    private static func values(_ text: String) throws -> [NSObject] {
        try text.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSObject)
        }
    }

    /// Times and sizes differ from run to run, and so does whether a manifest is applied with a library or just after.
    private static func withoutFigures(_ text: some StringProtocol) -> String {
        let change = text.ranges(of: "the manifest: ").first.map { String(text[$0.lowerBound...]) }
        return (change ?? String(text)).replacing(/\d+([.:]\d+)*( ms| s)?/, with: "0")
    }
}
