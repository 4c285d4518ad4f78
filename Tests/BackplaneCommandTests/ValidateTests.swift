import Foundation
import TestFixtures
import Testing

/// `backplane validate`: what a plugin does that it should not. What it finds in libraries that do wrong stands in
/// HostileTests.
@Suite(.timeLimit(.minutes(5)))
struct ValidateTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private struct Report: Decodable {
        struct Row: Decodable { var id, requirement, result: String, details: [String] }
        var path: String
        var isValid: Bool
        var requirements: [Row]

        subscript(_ id: String) -> Row? { requirements.first { $0.id == id } }
    }

    /// With a time limit that no library reaches which does not hang, however busy the machine.
    private func validate(_ library: String, more: [String] = []) async throws -> Tool.Outcome {
        let outcome = try await tool.start(
            ["validate", library, "--load-folder", tool.loads, "--timeout", "240"] + more
        ).end()
        #expect(outcome.errors == "")
        #expect(tool.loadFolders() == [], "nothing is left")
        return outcome
    }

    private func report(_ library: String, _ more: String...) async throws -> (status: Int32, report: Report) {
        let outcome = try await validate(library, more: ["--json"] + more)
        return (outcome.status, try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)))
    }

    /// Each takes seconds, in which nothing must come.
    private static let examples =
        ["Clock", "Bookshelf", "FlatBooks", "Ledger"]
        + (Nightly.isRunning ? ["BooksAPIv1", "BooksAPIv2", "Almanac", "_Challenge"] : [])

    @Test(arguments: examples)
    func `the example's plugins, and one in C++, keep to every requirement`(name: String) async throws {
        let (status, report) = try await report("\(BuiltProducts.folder)/lib\(name).so")
        #expect(status == 0 && report.isValid)
        #expect(
            report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map {
                "\($0.id) \($0.details)"
            } == [])
        if name == "Clock" {
            // A plugin in C is asked all that there is to ask of it.
            let inapplicable = report.requirements.filter { $0.result == "not applicable" }.map(\.id)
            #expect(inapplicable == ["V06", "V26", "V27"])
        }
        if name == "Bookshelf" {
            #expect(report["V25"]?.result == "passed", "a call that waits for a wire is answered when it is cancelled")
        }
    }

    @Test func `a manifest that cannot be read is no empty configuration`() async throws {
        let service = "\(BuiltProducts.folder)/libBooksAPIv2.so", torn = try tool.write("{", as: "torn.json")
        for (manifest, code) in [(tool.folder + "/none.json", "unreadable"), (torn, "malformed")] {
            let outcome = try await tool.plain("validate", service, "--load-folder", tool.loads, "--manifest", manifest)
            #expect(outcome.status == 1 && outcome.errors.contains("manifest.\(code)"), "\(outcome.errors)")
        }
    }

    @Test func `a manifest supplies the configuration without which a service cannot be created`() async throws {
        let service = "\(BuiltProducts.folder)/libBooksAPIv1.so"
        let (_, without) = try await report(service)
        #expect(without["V21"]?.details.first?.contains("an empty configuration (--manifest supplies another)") == true)
        let (status, with) = try await report(service, "--manifest", Tool.manifests + "/bookshelf-both.json")
        #expect(status == 0)
        #expect(["V21", "V22", "V24", "V25"].map { with[$0]?.result } == Array(repeating: "passed", count: 4))
        #expect(with["V21"]?.details == [])
    }

    @Test func `the table has every requirement, and the sum of their results`() async throws {
        let outcome = try await validate("\(BuiltProducts.folder)/libClock.so")
        #expect(outcome.status == 0)
        for number in Array(1...6) + Array(11...13) + Array(21...28) {
            #expect(outcome.output.contains("\nV\(number < 10 ? "0" : "")\(number)  "))
        }
        #expect(outcome.output.hasSuffix("\n14 passed, 3 not applicable\n"), "\(outcome.output)")
    }

    @Test func `what is no library at all is exit code 1, and everything else is skipped`() async throws {
        let (status, report) = try await report(tool.write("nothing", as: "libText.so"))
        #expect(status == 1 && !report.isValid)
        #expect(report["V01"]?.details == ["a plugin is a shared library, but this file is not one (not ELF)"])
        #expect(report.requirements.dropFirst().allSatisfy { $0.result == "skipped" })
    }

    /// Validates what a compiler makes of its other arguments.
    private func report(compiling command: [String]) async throws -> (status: Int32, report: Report) {
        let path = tool.folder + "/libBuilt.so"
        try Compiler.run(command + ["-o", path])
        return try await report(path)
    }

    @Test(.nightly, arguments: [[], ["-C", "strip=symbols"], ["-C", "panic=abort"]] as [[String]])
    func `the tally in Rust keeps to every requirement`(flags: [String]) async throws {
        guard let compiler = RustCompiler.path else { try Test.cancel("\(RustCompiler.isMissing)") }
        let (status, report) = try await report(
            compiling: [compiler] + RustCompiler.options + flags + [RustCompiler.tally])
        #expect(
            report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map {
                "\($0.id) \($0.details)"
            } == [])
        #expect(status == 0)
    }

    @Test(.nightly) func `without a version script it exports instances of C++ templates, and that is reported`()
        async throws
    {
        let root = Tool.manifests + "/.."
        let (_, report) = try await report(compiling: [
            "clang++", "-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-std=c++17", "-I",
            root + "/Sources/CBackplane/include", root + "/Tests/Plugins/Ledger/ledger.cpp",
        ])
        #expect(
            report["V04"]?.details.first?.contains("version script `{ global: backplane_plugin_entry_v1; local: *; };`")
                == true)
    }

    @Test func `a library of nearly the name of a toolchain's is a stranger`() async throws {
        var bytes = try Data(contentsOf: URL(filePath: "\(BuiltProducts.folder)/libClock.so"))
        let needed = try #require(bytes.firstRange(of: Data("libswiftCore.so\0".utf8)))
        bytes.replaceSubrange(needed, with: Data("libswiftHelp.so\0".utf8))
        let path = tool.folder + "/libNeedy.so"
        try bytes.write(to: URL(filePath: path))
        let (_, report) = try await report(path)
        #expect(report["V05"]?.details.first?.contains("libswiftHelp.so") == true)
        #expect(report["V05"]?.result == "failed")
    }

    @Test func `a library that is not found is a problem in JSON too, and one without a name is wrong usage`()
        async throws
    {
        let unknown = try await tool.start(["validate", "Nobody", "--json", "--load-folder", tool.loads]).end()
        struct Answer: Decodable { var path: String, isValid: Bool, problem: Problem }
        struct Problem: Decodable { var code: String }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(unknown.output.utf8))
        #expect(unknown.status == 1 && answer.path == "Nobody" && !answer.isValid && !answer.problem.code.isEmpty)
        let nameless = try await tool.plain("validate", "")
        #expect(
            nameless.status == 64 && nameless.errors == "backplane: LIBRARY: expected a path or a name, found nothing\n"
        )
    }
}
