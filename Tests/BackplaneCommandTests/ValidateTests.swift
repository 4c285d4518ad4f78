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
    private func validate(_ library: String, _ more: String...) async throws -> Tool.Outcome {
        let outcome = try await tool.start(
            ["validate", library, "--load-folder", tool.loads, "--timeout", "240"] + more
        ).end()
        #expect(outcome.errors == "")
        #expect(tool.loadFolders() == [], "nothing is left")
        return outcome
    }

    private func report(_ library: String) async throws -> (status: Int32, report: Report) {
        let outcome = try await validate(library, "--json")
        return (outcome.status, try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)))
    }

    @Test(arguments: [
        "Clock", "Bookshelf", "BooksAPIv1", "BooksAPIv2", "FlatBooks", "Almanac", "_Challenge",
    ])
    func `the example's plugins keep to every requirement`(name: String) async throws {
        let (status, report) = try await report("\(Tool.built)/lib\(name).so")
        #expect(status == 0 && report.isValid)
        #expect(
            report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map {
                "\($0.id) \($0.details)"
            } == [])
    }

    @Test func `a plugin in C is asked all that there is to ask of it`() async throws {
        let (_, report) = try await report("\(Tool.built)/libClock.so")
        #expect(report.requirements.filter { $0.result == "not applicable" }.map(\.id) == ["V08", "V09", "V28", "V29"])
        #expect(report["V24"]?.result == "passed")
        #expect(
            report["V15"]?.details.count == 1
                && report["V15"]?.details.first?.contains(/^\d+ µs on the processor$/) == true)
    }

    @Test func `one in Swift too`() async throws {
        let (_, report) = try await report("\(Tool.built)/libBookshelf.so")
        #expect(
            report.requirements.filter { $0.result == "passed" }.count >= 22,
            "\(report.requirements.map { "\($0.id) \($0.result)" })")
        #expect(report["V25"]?.result == "passed", "a call that waits for a wire is answered when it is cancelled")
    }

    @Test func `the table has every requirement, and the sum of their results`() async throws {
        let outcome = try await validate("\(Tool.built)/libClock.so")
        #expect(outcome.status == 0)
        for number in Array(1...9) + Array(11...17) + Array(21...29) {
            #expect(outcome.output.contains("\nV\(number < 10 ? "0" : "")\(number)  "))
        }
        #expect(outcome.output.hasSuffix("\n21 passed, 4 not applicable\n"), "\(outcome.output)")
    }

    @Test func `what is no library at all is exit code 1, and everything else is skipped`() async throws {
        let (status, report) = try await report(tool.write("nothing", as: "libText.so"))
        #expect(status == 1 && !report.isValid)
        #expect(report["V01"]?.details == ["a plugin is a shared library, but this file is not one (not ELF)"])
        #expect(report.requirements.dropFirst().allSatisfy { $0.result == "skipped" })
    }

    @Test func `the ledger in C++ keeps to every requirement`() async throws {
        let ledger = Tool.package + "/Tests/Plugins/Ledger"
        let path = try tool.library(
            "Ledger", by: "clang++",
            ["-std=c++17", "-Wl,--version-script=\(ledger)/exports.map", "\(ledger)/ledger.cpp"])
        let (status, report) = try await report(path)
        #expect(
            report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map {
                "\($0.id) \($0.details)"
            } == [])
        #expect(status == 0)
    }

    /// Builds a library in Rust, or cancels the test where nothing can.
    private func rust(_ source: String, _ flags: [String]) throws -> String {
        guard let compiler = RustCompiler.path else { try Test.cancel("\(RustCompiler.isMissing)") }
        let path = "\(tool.folder)/libRust.so", process = Process()
        process.executableURL = URL(filePath: compiler)
        process.arguments = RustCompiler.options + flags + ["-o", path, source]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    @Test(arguments: [[], ["-C", "strip=symbols"], ["-C", "panic=abort"]] as [[String]])
    func `the tally in Rust keeps to every requirement`(flags: [String]) async throws {
        let (status, report) = try await report(rust(RustCompiler.tally, flags))
        #expect(
            report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map {
                "\($0.id) \($0.details)"
            } == [])
        #expect(status == 0)
    }

    @Test(arguments: [[], ["-C", "strip=symbols"]] as [[String]])
    func `a constructor of the author's in Rust is found beside the standard library's`(flags: [String]) async throws {
        let source = """
            #[used]
            #[link_section = ".init_array"]
            static EARLY: extern "C" fn() = begin_early;
            extern "C" fn begin_early() {
                _ = std::env::args().count();
            }
            """
        let (_, report) = try await report(rust(tool.write(source, as: "early.rs"), flags))
        let details = try #require(report["V06"]?.result == "failed" ? report["V06"]?.details : nil)
        let words = flags.isEmpty ? "begin_early" : "4 functions run when the library is loaded"
        #expect(details.count == 1 && details[0].contains(words), "\(details)")
    }

    @Test func `without a version script it exports instances of C++ templates, and that is reported`() async throws {
        let (_, report) = try await report(
            tool.library("Ledger", by: "clang++", ["-std=c++17", Tool.package + "/Tests/Plugins/Ledger/ledger.cpp"]))
        #expect(
            report["V03"]?.details.first?.contains("version script `{ global: backplane_plugin_entry_v1; local: *; };`")
                == true)
    }

    /// Its source is kept as it was released, and takes anything for the input of `wait`, which then waits; nor does it
    /// pass a cancellation on.
    @Test func `the ledger of ABI 0 has the two faults that it was released with`() async throws {
        let source = Tool.package + "/Tests/Compatibility/ABI0"
        let path = try tool.library("Ledger", by: "clang", headers: source, ["-std=c99", source + "/plugin.c"])
        // A limit that only the two hangs reach, however busy the machine.
        let outcome = try await tool.start(["validate", path, "--json", "--load-folder", tool.loads, "--timeout", "15"])
            .end()
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        #expect(report.requirements.filter { $0.result == "failed" }.map(\.id) == ["V24", "V25"])
    }

    @Test func `a library of nearly the name of a toolchain's is a stranger`() async throws {
        let stranger = try tool.library("swiftHelpers", of: "int helper(void) { return 1; }", "-fvisibility=default")
        let (_, report) = try await report(
            tool.library(
                "Needy",
                of:
                    "#include \"plugin.h\"\nint helper(void);\n__attribute__((used)) static int (*needed)(void) = helper;",
                stranger))
        #expect(report["V05"]?.details.first?.contains("libswiftHelpers.so") == true)
        #expect(report["V05"]?.result == "failed")
    }

    @Test func `the other libraries of libc are no strangers`() async throws {
        let source =
            "#include \"plugin.h\"\nint __res_init(void);\n__attribute__((used)) static int (*needed)(void) = __res_init;"
        let (_, report) = try await report(
            tool.library("Resolver", of: source, "-Wl,--no-as-needed", "-lresolv", "-lm"))
        #expect(report["V05"]?.result == "passed")
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

    @Test func `a library that is not there is said to be not there`() async throws {
        let outcome = try await validate(tool.folder + "/libNobody.so", "--json")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("the library cannot be opened"))
    }

    @Test func `the page has every requirement, in order`() async throws {
        let (_, report) = try await report("\(Tool.built)/libClock.so")
        let page = try String(contentsOfFile: Tool.manifests + "/../docs/validate.md", encoding: .utf8)
        #expect(page.matches(of: /\n\| (V\d\d) \|/).map { String($0.output.1) } == report.requirements.map(\.id))
    }
}
