import Foundation
import TestFixtures
import Testing

/// The program of `make attack`: what it tries depends on its seed alone, and what it says of it.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct AttackTests {
    private struct Report: Decodable {
        struct Row: Decodable {
            var name: String
            var trials: Int
            var outcomes: [String: Int]
        }
        var seed: UInt64
        var attacks: [Row]
    }

    private func attack(_ arguments: String...) async throws -> Tool.Outcome {
        try await RunningTool(arguments, of: Tool.built + "/attack", input: nil).end()
    }

    @Test func `the same seed makes the same trial, and leaves what it made`() async throws {
        let tool = try Tool(), file = tool.folder + "/attack.json"
        func made(_ seed: Int, _ trial: Int) async throws -> [Data] {
            let folder = tool.folder + "/made"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let outcome = try await RunningTool(
                ["manifests", "--seed", "\(seed)", "--trial", "\(trial)", "--json", file], of: Tool.built + "/attack",
                input: nil, environment: ["TMPDIR": folder]
            ).end()
            #expect(outcome.output.hasPrefix("seed \(seed)\n") && [0, 1].contains(outcome.status), "\(outcome.errors)")
            let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: file)))
            #expect(report.seed == UInt64(seed) && report.attacks.map(\.name) == ["manifests"])
            #expect(report.attacks.first?.trials == 1 && report.attacks.first?.outcomes["failed"] == nil)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return try paths.filter { $0.hasSuffix("/m\(trial).json") }.map {
                try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))
            }
        }
        var all: Set<[Data]> = []
        for trial in 0..<3 {
            let first = try await made(7, trial), again = try await made(7, trial), other = try await made(8, trial)
            #expect(first.count == 1 && first == again)
            all.formUnion([first, other])
        }
        #expect(all.count > 3)
    }

    @Test func `an attack that there is not is wrong usage, and what there is is listed`() async throws {
        let outcome = try await attack("libary")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("there is no attack `libary`; there is: libraries, manifests, kills"))
        let help = try await attack("--help")
        #expect(help.status == 0 && help.output.contains("kills") && help.output.contains("--seed"))
    }
}
