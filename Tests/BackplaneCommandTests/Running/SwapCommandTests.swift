import BackplaneControl
import BackplaneHost
import Foundation
import Testing

/// `backplane swap`, `rollback`, `generations` and `stats`, against a host in another process.
@Suite(.timeLimit(.minutes(10)))
struct SwapCommandTests {
    private let tool: Tool
    private let library: String
    private let manifest: String

    init() throws {
        tool = try Tool()
        library = try EditionLibrary.write(1, to: tool.folder)
        manifest = try tool.write(EditionLibrary.manifest, as: "m.json")
    }

    private func edition() async throws -> String {
        try await tool.plain("call", "Edition", "edition", "--running").output
    }

    @Test func `a new build is activated by its name, and the old one again by a rollback`() async throws {
        let host = try await tool.startRun(manifest)
        #expect(try await edition() == "1\n")
        try EditionLibrary.write(2, to: tool.folder)
        let swapped = try await tool.plain("swap", "Edition")
        #expect(swapped.status == 0 && swapped.errors == "", "\(swapped.errors)")
        let lines = swapped.output.split(separator: "\n")
        #expect(lines.first == "swapped org.example.edition 1.0.0 → 2.0.0, generation 1 → 2")
        #expect(
            lines.last?.contains("no calls waited; ") == true
                && lines.last?.hasSuffix(" from the request to the new code") == true, "\(swapped.output)")
        #expect(try await edition() == "2\n")

        let same = try await tool.plain("swap", "Edition")
        #expect(
            same.status == 0 && same.output == "nothing to do: the libraries are identical to the active ones\n")

        let back = try await tool.plain("rollback", EditionLibrary.id, "--json")
        let report = try JSONDecoder().decode(ChangeReport.self, from: Data(back.output.utf8))
        #expect(back.status == 0 && report.outcome == .changed && report.plugins.map(\.toGeneration) == [1])
        #expect(try await edition() == "1\n")
        #expect(try await tool.plain("rollback", "Edition", "--to", "2").status == 0)
        #expect(try await edition() == "2\n")
        withExtendedLifetime(host) {}
    }

    @Test func `a renamed class is activated together with its manifest, and a rollback restores both`() async throws {
        let host = try await tool.startRun(manifest)
        try EditionLibrary.write(2, to: tool.folder, className: "Renamed")
        let alone = try await tool.plain("swap", "Edition")
        #expect(alone.status == 1 && alone.errors.contains("no plugin registers a class `Edition`"), "\(alone.errors)")
        let text = EditionLibrary.manifest.replacingOccurrences(
            of: #""className": "Edition""#, with: #""className": "Renamed""#)
        _ = try tool.write(text, as: "m.json")
        let applied = try await tool.plain("apply", manifest)
        #expect(applied.status == 1 && applied.errors.contains("`Renamed`"), "\(applied.errors)")

        let dry = try await tool.plain("swap", "Edition", "--apply", manifest, "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("Renamed"), "\(dry.output)\(dry.errors)")
        #expect(try await edition() == "1\n")
        let swapped = try await tool.plain("swap", "Edition", "--apply", manifest)
        #expect(swapped.status == 0 && swapped.errors == "", "\(swapped.errors)")
        #expect(swapped.output.contains("\n  Edition: "), "\(swapped.output)")
        #expect(try await edition() == "2\n")

        let back = try await tool.plain("rollback", "Edition", "--json")
        let report = try JSONDecoder().decode(ChangeReport.self, from: Data(back.output.utf8))
        #expect(back.status == 0 && report.managers.restarted == ["Edition"])
        #expect(report.components.map(\.className) == ["Edition"])
        #expect(try await edition() == "1\n")
        withExtendedLifetime(host) {}
    }

    @Test func `a dry run says what would happen, and nothing does`() async throws {
        let host = try await tool.startRun(manifest),
            other = try EditionLibrary.write(7, to: tool.folder, as: "libOther.so")
        let dry = try await RunningTool(
            ["swap", "./libOther.so", "--dry-run"], input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder],
            in: tool.folder
        ).end()
        #expect(
            dry.status == 0 && dry.output.hasPrefix("PLUGIN ") && dry.output.hasSuffix("nothing was changed\n"),
            "\(dry.output)\(dry.errors)")
        #expect(
            dry.output.contains("1.0.0 → 7.0.0") && dry.output.contains(other),
            "the path is made absolute, since the host stands elsewhere")
        let json = try await tool.plain("swap", other, "--dry-run", "--json")
        let preview = try JSONDecoder().decode(ChangeReport.self, from: Data(json.output.utf8))
        #expect(
            preview.outcome == .planned && preview.refusals == [] && preview.components.map(\.component) == ["Edition"])
        let listed = try await tool.plain("generations", "--json")
        let states = try JSONDecoder().decode([Generation].self, from: Data(listed.output.utf8)).map(\.state)
        #expect(states == [.active, .loaded, .loaded])
        #expect(try await edition() == "1\n")
        withExtendedLifetime(host) {}
    }

    @Test func `generations and calls are listed`() async throws {
        let host = try await tool.startRun(manifest)
        _ = try await edition()
        _ = try await tool.plain("call", "Edition", "nothing", "--running")
        let stats = try await tool.plain("stats").output.split(separator: "\n")
        // Tables of encoded calls and of last errors may follow.
        let calls = stats.prefix { !$0.hasPrefix("ENCODED CALLS OF") && !$0.hasPrefix("LAST ERROR OF") }
        #expect(calls.first?.split(separator: " ").first == "COMPONENT" && calls.count == 2, "\(stats)")
        let rows = try await tool.plain("stats", "--json")
        let answer = try JSONDecoder().decode(StatisticsRequest.Answer.self, from: Data(rows.output.utf8))
        let row = try #require(answer.components.first)
        #expect(row.component == "Edition" && row.calls >= 1 && row.inFlight == 0 && row.waiting == 0)

        try EditionLibrary.write(2, to: tool.folder)
        #expect(try await tool.plain("swap", "Edition").status == 0)
        let table = try await tool.plain("generations").output.split(separator: "\n")
        #expect(
            table.count == 3 && table[0].hasPrefix("PLUGIN ") && table[1].contains("  retired ")
                && table[2].contains("  active "), "\(table)")
        let listed = try await tool.plain("generations", EditionLibrary.id, "--json")
        let generations = try JSONDecoder().decode([Generation].self, from: Data(listed.output.utf8))
        #expect(generations.map(\.number) == [1, 2] && generations.map(\.canReturn) == [true, false])
        withExtendedLifetime(host) {}
    }

    @Test func `one that fails its probation is rolled back by itself, which is a failure`() async throws {
        let host = try await tool.startRun(manifest),
            bad = try EditionLibrary.write(3, to: tool.folder, as: "libBad.so", settings: ["edition.fails": "always"])
        let swap = try tool.start(["swap", bad, "--probation", "600", "--error-rate", "0.5"])
        // Its calls fail once it is active; too few of them would say nothing.
        for _ in 0..<1_000 {
            let generations = try await tool.plain("generations", "--json")
            let states = try JSONDecoder().decode([Generation].self, from: Data(generations.output.utf8))
                .map(\.state)
            if states.contains(.failed) { break }
            if states.contains(.onProbation) { _ = try await tool.plain("call", "Edition", "edition", "--running") }
        }
        let outcome = await swap.end()
        #expect(
            outcome.status == 1 && outcome.output.hasPrefix("rolled back org.example.edition 1.0.0 → 3.0.0"),
            "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("backplane: "))
        #expect(try await edition() == "1\n")
        withExtendedLifetime(host) {}
    }
}
