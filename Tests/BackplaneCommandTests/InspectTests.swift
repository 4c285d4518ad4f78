import Foundation
import TestFixtures
import Testing

/// `backplane inspect`: what a library is, what it brings, and whether a host would load it, whatever the library does.
@Suite(.timeLimit(.minutes(5)))
struct InspectTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// With a time limit that no library reaches which does not hang, however busy the machine.
    private func inspect(_ library: String, _ more: String..., limit: String = "240") async throws -> Tool.Outcome {
        let outcome = try await tool.start(
            ["inspect", library, "--load-folder", tool.loads, "--timeout", limit] + more
        ).end()
        #expect(outcome.errors == "")
        #expect(tool.loadFolders() == [], "nothing is left")
        return outcome
    }

    private struct Report: Decodable {
        struct Identity: Decodable {
            struct ABI: Decodable { var lowest, highest: Int }
            var id, version: String?
            var abi: ABI
            var sdk, toolchain, swift: String?
            var hasSwift: Bool
        }
        struct Contract: Decodable {
            struct Method: Decodable, Equatable { var name, kind: String }
            var name, version: String
            var methods: [Method]
        }
        struct Component: Decodable {
            struct Wire: Decodable { var label: String, isOptional: Bool, contract: Contract }
            var className, version, role: String
            var contract: Contract?
            var wires: [Wire]
        }
        struct Plugin: Decodable { var id, version: String, abi: Int, toolchain: String, components: [Component] }
        struct Problem: Decodable { var code, message: String, causes: [Problem]? }
        var path: String
        var loads: Bool
        var size: Int?
        var identity: Identity?
        var plugin: Plugin?
        var problems: [Problem]
    }

    private func report(_ library: String, limit: String = "240") async throws -> (status: Int32, report: Report) {
        let outcome = try await inspect(library, "--json", limit: limit)
        return (outcome.status, try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)))
    }

    private static let clock = BuiltProducts.folder + "/libClock.so"

    // MARK: Sound libraries

    @Test func `a plugin in C is shown whole`() async throws {
        let outcome = try await inspect(Self.clock)
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines[0...4] == [
                "path       \(Self.clock)", "plugin     org.backplane.clock 1.0.0", "ABI        0", "SDK        none",
                "Swift      none",
            ])
        #expect(lines[5].hasPrefix("toolchain  ") && lines[5].lowercased().contains("clang"))
        let size = try FileManager.default.attributesOfItem(atPath: Self.clock)[.size] as? Int
        #expect(lines[6] == "size       \(size ?? 0) bytes")
        #expect(
            outcome.output.hasSuffix(
                """

                COMPONENT           KIND          CONTRACT
                ClockManager 1.0.0  manager       provides WallTime 1.0.0
                  now               sync method
                  echo              async method

                a host loads it

                """), "\(outcome.output)")
    }

    @Test func `as JSON it is all there too`() async throws {
        let (status, report) = try await report(BuiltProducts.folder + "/libBookshelf.so")
        #expect(status == 0 && report.loads && report.problems.isEmpty)
        let identity = try #require(report.identity), plugin = try #require(report.plugin)
        #expect(
            identity.hasSwift && identity.swift?.hasPrefix("6.") == true && identity.abi.lowest == 0
                && identity.abi.highest == 0)
        #expect(
            plugin.id == "org.backplane.bookshelf" && plugin.version == "1.0.0" && plugin.abi == 0
                && plugin.toolchain.hasSuffix(", " + (identity.toolchain ?? "?")))
        let manager = try #require(plugin.components.first { $0.className == "LibraryManager" })
        #expect(
            manager.role == "manager" && manager.contract?.name == "Library" && manager.contract?.version == "1.8.0")
        #expect(manager.contract?.methods.contains(.init(name: "count", kind: "sync")) == true)
        let clock = try #require(manager.wires.first { $0.label == "clock" })
        #expect(
            clock.isOptional && clock.contract.name == "WallTime"
                && clock.contract.methods == [.init(name: "now", kind: "sync")])
    }

    // MARK: Libraries that no host loads

    @Test func `what is no library is refused, and what is known is shown`() async throws {
        let path = try tool.write("GROUP ( libm.so.6 )\n", as: "libScript.so")
        let outcome = try await inspect(path)
        #expect(outcome.status == 1)
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines.starts(with: ["path \(path)", "size 20 bytes"]) && lines.contains("a host refuses it"),
            "\(outcome.output)")
        #expect(outcome.output.contains("\n  \(path): plugin.damaged: "))
        let (status, report) = try await report(path)
        #expect(
            status == 1 && !report.loads && report.size == 20 && report.identity == nil
                && report.problems.map(\.code) == ["plugin.damaged"])
    }

    // MARK: Libraries that misbehave when they are loaded

    @Test(arguments: [("loaded", "abort()"), ("entered", "__builtin_trap()")])
    func `a crash is a finding, with the signal and what was printed last`(when: String, crash: String) async throws {
        let printing = #"fprintf(stderr, "first\nall is lost\n"); "#
        let (status, report) = try await report(tool.writeHostile([when: printing + crash], id: "org.example.odd"))
        #expect(status == 1 && report.plugin == nil && report.identity?.id == "org.example.odd")
        let problem = try #require(report.problems.first)
        #expect(
            problem.code == "plugin.load-failed" && problem.message.contains("it ended its process with signal "),
            "\(problem)")
        #expect(problem.causes?.map(\.message) == ["it printed: first", "it printed: all is lost"])
    }
}
