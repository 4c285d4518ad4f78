import ArgumentParser
import Backplane
import BackplaneControl
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneHost
@testable import BackplaneTools

/// `backplane swap`, `rollback`, `generations` and `stats`, against a host in another process.
@Suite(.timeLimit(.minutes(10)))
struct SwapTests {
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
}

/// The options of the commands that swap, from their words to what the host receives.
struct SwapArgumentsTests {
    @Test func `each option for callers and state has its effect, and no other`() throws {
        func options(_ words: String...) throws -> ChangeOptions? { try LongCallArguments.parse(words).options }
        func drain(_ limit: Duration = .milliseconds(200), then fallback: DrainPolicy.Fallback = .later)
            -> ChangeOptions
        {
            ChangeOptions(drain: .upTo(limit, then: fallback))
        }
        #expect(try options() == nil)
        #expect(try options("--allow-missing") == ChangeOptions(allowsMissingMethods: true))
        #expect(try options("--encoded-state") == ChangeOptions(encodesState: true))
        #expect(try options("--drain", "1.5") == drain(.seconds(1.5)))
        #expect(try options("--long-calls", "cancel") == drain(then: .cancel))
        #expect(try options("--retries", "7") == drain(then: .retry(attempts: 7, within: .seconds(600))))
        #expect(try options("--retry-for", "60") == drain(then: .retry(attempts: 100, within: .seconds(60))))
        for wrong in [["--drain", "0"], ["--drain", "soon"], ["--long-calls", "never"], ["--retries", "0"]] {
            #expect(throws: (any Error).self) { try LongCallArguments.parse(wrong) }
        }
    }

    @Test func `the other options of a swap are understood, or refused with what was expected`() throws {
        func options(_ words: String...) throws -> ChangeOptions { try ChangeOptionsArguments.parse(words).options }
        #expect(try options() == ChangeOptions())
        #expect(
            try options("--probation", "30", "--error-rate", "0.05", "--timeout", "5", "--discard-state")
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30), errorRate: 0.05), stepLimit: .seconds(5),
                    discardsState: true))
        for wrong in [
            ["--probation", "0"], ["--probation", "nan"], ["--timeout", "inf"], ["--error-rate", "0.1"],
            ["--probation", "1", "--error-rate", "1.1"], ["--drain", "0"], ["--long-calls", "fail", "--retries", "1"],
            ["--retry-for", "nan"], ["--long-calls", "cancel", "--retry-for", "1"],
        ] {
            #expect(throws: (any Error).self, "\(wrong)") { try ChangeOptionsArguments.parse(wrong) }
        }
    }

    @Test func `a swap receives its options`() throws {
        let swap = try BackplaneTool.Swap.parse([
            "Almanac", "--discard-state", "--probation", "30", "--error-rate", "0.05", "--timeout", "5", "--trust",
            "--encoded-state", "--socket", "/run/host", "--dry-run",
        ])
        #expect(
            try swap.change.options
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30), errorRate: 0.05), stepLimit: .seconds(5),
                    discardsState: true, trustsLibraries: true, encodesState: true))
        #expect(try swap.host.choice.socket == "/run/host")
        #expect(try BackplaneTool.Swap.parse(["Almanac"]).change.options == ChangeOptions())
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse(["Almanac", "--environment", "test"]) }
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse([]) }
    }

    @Test func `apply receives the same options`() throws {
        let apply = try BackplaneTool.Apply.parse([
            "m.json", "--discard-state", "--probation", "30", "--allow-missing", "--trust", "--encoded-state",
            "--dry-run",
        ])
        #expect(
            try apply.change.options
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30)), discardsState: true, trustsLibraries: true,
                    allowsMissingMethods: true, encodesState: true))
        #expect(try BackplaneTool.Apply.parse(["m.json"]).change.options == ChangeOptions())
    }
}

/// What people read of swaps.
struct SwapTextTests {
    private var report: ChangeReport {
        var report = ChangeReport(.changed)
        report.plugins = [
            .init(
                plugin: "org.example.notes", library: "/build/libNotes.so", fromGeneration: 2, toGeneration: 3,
                fromVersion: "1.0.0", toVersion: "1.1.0")
        ]
        report.components = [
            .init(
                component: "NotesManager", role: "manager", action: .replaced, reason: "its code is new",
                className: "NotesManager", fromVersion: "1.0.0",
                toVersion: "1.1.0", manner: .gated,
                state: StateChange(
                    schema: "notes", fromVersion: 1, toVersion: 2, bytes: 12_345, lane: "encoded",
                    reason: "the state has version 1 in the old code and 2 in the new code",
                    remark: "the order of its arrays differs"), callsInFlight: 3),
            .init(
                component: "NotesStore", role: "data access controller", action: .replaced, reason: "its code is new",
                className: "NotesStore", fromVersion: "1.0.0",
                toVersion: "1.0.0", manner: .ungated),
            .init(
                component: "Desk", role: "manager", action: .recreated, reason: "it calls NotesManager",
                className: "Desk",
                fromVersion: "2.0.0", toVersion: "2.0.0",
                manner: .gated,
                state: StateChange(schema: "desk", fromVersion: 1, toVersion: 1, lane: "native")),
            .init(
                component: "Tags", role: "manager", action: .replaced, reason: "its code is new", className: "Tags",
                fromVersion: "1.0.0", toVersion: "1.1.0",
                manner: .gated,
                state: StateChange(schema: "tags", fromVersion: 3, toVersion: nil, lost: "nothing takes version 3")),
        ]
        report.wires = [
            WireChange(
                user: "Desk", label: "notes", provider: "NotesManager", contract: "Notes", fromLane: "native",
                toLane: "encoded", reason: "field `text` is new"),
            WireChange(
                user: nil, label: "NotesManager", provider: "NotesManager", contract: "Notes", fromLane: "encoded",
                toLane: "encoded"),
        ]
        (report.callsHeld, report.longestWait, report.duration) = (2, .milliseconds(0.3149), .milliseconds(12.6))
        return report
    }

    @Test func `a report says what changed, what was carried over and what it took`() throws {
        var unchanged = ChangeReport(.unchanged), back = report
        unchanged.warnings = ["two\nlines"]
        back.outcome = .rolledBack
        let texts = [report, back, unchanged].map { $0.lines(colour: false).joined(separator: "\n") }
        try expectSnapshot(texts.joined(separator: "\n\n") + "\n", "swap-report")
    }

    @Test func `a swap that was rolled back, and a preview with refusals, are failures`() {
        var back = ChangeReport(.rolledBack), refused = ChangeReport(.planned)
        back.failure = BackplaneError(.swapFailed, "too many calls failed")
        refused.refusals = [BackplaneError(.swapRefused, "`Desk` needs Notes 2.0.0")]
        #expect(back.exitCode == 1 && refused.exitCode == 1 && ChangeReport(.planned).exitCode == 0)
        #expect(report.exitCode == 0)
    }

    @Test func `a preview is tables, and what speaks against it`() throws {
        var preview = ChangeReport(.planned)
        (preview.plugins, preview.components, preview.wires) = (report.plugins, report.components, report.wires)
        preview.managers.kept = ["Clock"]
        preview.warnings = ["the library was built a year ago"]
        let sound = preview
        preview.refusals = [
            BackplaneError(
                .swapRefused, "`Desk` needs Notes 2.0.0", at: "/managers/Desk",
                causes: [BackplaneError(.wireMismatch, "it has 1.1.0")])
        ]
        let texts = [sound, preview, ChangeReport(.planned)].map { $0.lines(colour: false).joined(separator: "\n") }
        try expectSnapshot(texts.joined(separator: "\n\n") + "\n", "swap-preview")
    }
}
