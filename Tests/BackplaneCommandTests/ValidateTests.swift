import Foundation
import Testing

/// `backplane validate`: what a plugin does that it should not. What it finds in libraries that do wrong stands in HostileTests.
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
        let outcome = try await tool.start(["validate", library, "--load-folder", tool.loads, "--timeout", "240"] + more).end()
        #expect(outcome.errors == "")
        #expect(tool.loadFolders() == [], "nothing is left")
        return outcome
    }

    private func report(_ library: String) async throws -> (status: Int32, report: Report) {
        let outcome = try await validate(library, "--json")
        return (outcome.status, try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)))
    }

    @Test(arguments: ["Clock", "Bookshelf", "BooksAPIv1", "BooksAPIv2", "Almanac", "Yardstick", "Challenge"])
    func `the example's plugins keep to every requirement`(name: String) async throws {
        let (status, report) = try await report("\(Tool.built)/lib\(name).so")
        #expect(status == 0 && report.isValid)
        #expect(report.requirements.filter { $0.result == "failed" || $0.result == "skipped" }.map { "\($0.id) \($0.details)" } == [])
    }

    @Test func `a plugin in C is asked all that there is to ask of it`() async throws {
        let (_, report) = try await report("\(Tool.built)/libClock.so")
        #expect(report.requirements.filter { $0.result == "not applicable" }.map(\.id) == ["V08", "V09", "V28"])
        #expect(report["V24"]?.result == "passed")
        #expect(report["V15"]?.details.last?.contains(/^\d+ µs on the processor$/) == true)
        #if arch(x86_64)
        #expect(report["V15"]?.details.first?.contains(/^(about )?\d+ instructions$/) == true)
        #endif
    }

    @Test func `one in Swift too`() async throws {
        let (_, report) = try await report("\(Tool.built)/libBookshelf.so")
        #expect(report.requirements.filter { $0.result == "passed" }.count >= 22, "\(report.requirements.map { "\($0.id) \($0.result)" })")
        #expect(report["V25"]?.result == "passed", "a call that waits for a wire is answered when it is cancelled")
    }

    @Test func `the table has every requirement, and the sum of their results`() async throws {
        let outcome = try await validate("\(Tool.built)/libClock.so")
        #expect(outcome.status == 0)
        for number in Array(1...9) + Array(11...17) + Array(21...28) { #expect(outcome.output.contains("\nV\(number < 10 ? "0" : "")\(number)  ")) }
        #expect(outcome.output.hasSuffix("\n21 passed, 3 not applicable\n"), "\(outcome.output)")
    }

    @Test func `what is no library at all is exit code 1, and everything else is skipped`() async throws {
        let (status, report) = try await report(tool.write("nothing", as: "libText.so"))
        #expect(status == 1 && !report.isValid)
        #expect(report["V01"]?.details == ["a plugin is a shared library, this file is not one (not ELF)"])
        #expect(report.requirements.dropFirst().allSatisfy { $0.result == "skipped" })
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
