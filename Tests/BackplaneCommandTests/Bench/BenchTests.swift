import Foundation
import Testing

/// `backplane bench`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct BenchTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func rows(_ arguments: String...) async throws -> [[String: Any]] {
        let outcome = try await tool.start(["bench"] + arguments + ["--json"]).end()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
    }

    /// What the boundary must reach: rows and their bounds, `nil` where the bound depends on the run.
    private static let bounds: [(row: String, bound: Double?)] = [
        ("native async Int → Int, host, key path", 1.3), ("native async Int → Int, host, held", 1.3),
        ("native async Int → Int, plugin to plugin, key path", 1.3),
        ("native async Int → Int, plugin to plugin, held", 1.3),
        ("native async struct, host, key path", 1.5), ("native async struct, host, held", 1.5),
        ("native async struct, plugin to plugin, key path", 1.5),
        ("native async struct, plugin to plugin, held", 1.5),
        ("native sync Int → Int", 1.25), ("native sync struct", 2), ("native async, 2 callers", 0.9),
        ("native async, 8 callers", 0.9),
        ("native sync, 2 callers", 0.9), ("native sync, 8 callers", 0.9), ("native actor Int → Int", 1.3),
        ("encoded async struct", 1.15),
        ("look-up by name, started", nil), ("wiring 1,000 wires of 50 types, host's start", 100),
        ("allocations, native async Int", 0),
        ("allocations, native async struct", 0), ("allocations, plugin to plugin", 0),
        ("allocations, native sync Int", 0),
        ("flip with drain, idle", 50), ("flip with drain, 4 callers", 1_000),
    ]

    @Test func `every bound of the boundary is a row, and every row has the same keys`() async throws {
        let rows = try await rows("boundary", "--quick")
        for row in rows {
            #expect(
                row.keys.sorted() == [
                    "baseline", "median", "met", "name", "ratio", "spread", "suite", "target", "unit",
                ])
            #expect(row["suite"] as? String == "boundary")
            #expect(row["median"] is Double && row["spread"] is Double && row["unit"] is String)
        }
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names {
            #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone")
        }
        for (name, bound) in Self.bounds {
            let row = try #require(rows.first { $0["name"] as? String == name }, "\(name)")
            let target = try #require(row["target"] as? Double, "\(name)")
            #expect(target == bound ?? target && row["met"] is Bool, "\(name)")
        }
        for row in rows {
            guard let name = row["baseline"] as? String else { continue }
            let baseline = try #require(
                rows.first { $0["name"] as? String == name }, "\(name) is measured in the same run")
            #expect(row["ratio"] is Double && row["unit"] as? String == baseline["unit"] as? String, "\(name)")
        }
        #expect(
            Set(rows.filter { $0["target"] is Double }.map { $0["name"] as? String }) == Set(Self.bounds.map(\.row)),
            "and no other has one")
    }

    @Test func `an encoded call allocates, and the counter sees it`() async throws {
        let rows = try await rows("boundary", "--only", "allocations, encoded", "--quick")
        #expect(rows.count == 1)
        #expect(try #require(rows.first?["median"] as? Double) >= 4, "two texts there and back")
    }

    @Test func `a part of a row's name finds it, with what it is compared with`() async throws {
        let rows = try await rows("--only", "NATIVE ACTOR", "--quick")
        #expect(rows.map { $0["name"] as? String } == ["direct actor Int → Int", "native actor Int → Int"])
    }

    @Test func `a number of iterations is for one row alone`() async throws {
        let rows = try await rows("boundary", "--only", "native actor", "--iterations", "3")
        #expect(rows.map { $0["name"] as? String } == ["native actor Int → Int"])
        #expect(rows.allSatisfy { $0["ratio"] is NSNull && $0["met"] is NSNull && $0["spread"] as? Double == 0 })
    }

    @Test func `nothing is left behind, neither at the end nor when it is interrupted`() async throws {
        let folder = tool.folder + "/temporary"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }

        let whole = try RunningTool(
            ["bench", "--quick", "--only", "actor"], input: nil, environment: ["TMPDIR": folder])
        #expect(await whole.end().status == 0)
        #expect(try left() == [])

        // For as long as it takes to be interrupted: longer than anybody waits.
        let endless = try RunningTool(
            ["bench", "--only", "direct actor", "--iterations", "\(1 << 50)"], input: nil,
            environment: ["TMPDIR": folder])
        while try left().isEmpty { await Task.yield() }
        endless.signal(SIGINT)
        let outcome = await endless.end()
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(try left() == [])
    }

    @Test func `a table has no colour without a terminal, and a debug build says what it is`() async throws {
        let outcome = try await tool.plain("bench", "boundary", "--only", "native actor", "--quick")
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("ROW ") && lines[2].contains("≤ 1.30 ×"), "\(outcome.output)")
        #expect(!outcome.output.contains("\u{1B}") && !outcome.errors.contains("\u{1B}"))
        #if DEBUG
        #expect(outcome.errors.contains("debug build") && outcome.errors.split(separator: "\n").count == 1)
        #else
        #expect(outcome.errors == "")
        #endif
    }

    @Test(arguments: [
        (["speed"], ["`speed`", "boundary"]), (["boundary", "--only", "zebra", "--quick"], ["`zebra`"]),
        (["--iterations", "0"], ["--iterations", "0"]),
        (["--iterations", "few"], ["--iterations", "few"]),
        (["--quick", "--iterations", "5"], ["--quick", "--iterations"]), (["boundary", "more"], ["more"]),
        (["--slow"], ["--slow"]),
    ])
    func `what it does not understand is exit code 64, with what there is`(arguments: [String], says: [String])
        async throws
    {
        let outcome = try await tool.start(["bench"] + arguments).end()
        #expect(outcome.status == 64)
        #expect(outcome.output == "")
        for text in says { #expect(outcome.errors.contains(text), "\(outcome.errors)") }
    }
}
