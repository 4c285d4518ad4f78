import Backplane
import BackplaneDocuments
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Manifests with very many of one thing: what is said of one ends.
@Suite(.timeLimit(.minutes(10)))
struct ManifestLimitTests {
    private static func members(_ count: Int, _ member: (Int) -> String) -> String {
        (0..<count).map(member).joined(separator: ",")
    }

    private static func manifest(_ managers: String, _ rest: String = "") -> String {
        #"{"manifestVersion":1,"managers":{\#(managers)}\#(rest)}"#
    }

    @Test func `what is not listed is counted, and errors are not hidden by warnings`() throws {
        let unknown = Self.members(5_000) { #""k\#($0)":1"# }
        let services = Self.members(1_500) { _ in "1" }
        let faulty = #""className":"A","communicationController":{"className":"B","services":[\#(services)]}"#
        let managers = #""a":{\#(faulty)},"b":{"className":5}"#
        let document = ManifestDocument(parsing: Data(Self.manifest(managers, "," + unknown).utf8))
        let messages = document.problems.map { "\($0.severity): \($0.error.message)" }
        #expect(
            messages.contains("warning: 4000 more warnings are not listed; correct the listed ones, and check again"))
        #expect(messages.contains("error: 500 more errors are not listed; correct the listed ones, and check again"))
        #expect(document.manifest.managers.isEmpty)
        #expect(document.problems.contains { $0.manager == "b" }, "the first error of each manager is listed")
    }

    @Test func `more services or libraries than a manifest may have are one error`() {
        let half =
            #""className":"A","communicationController":{"className":"B","services":["#
            + Self.members(6_000) { #"{"className":"S","propertyName":"s\#($0)"}"# } + "]}"
        let managers = #""A":{\#(half)},"B":{\#(half)}"#
        let libraries = #","plugins":[\#(Self.members(10_001) { _ in #"{"library":"L"}"# })]"#
        let problems = ManifestDocument(parsing: Data(Self.manifest(managers, libraries).utf8)).problems
        let limits = problems.filter { $0.error.code == .manifestUnsupported }.map(\.error.message)
        #expect(limits.contains("10001 plugins; a manifest may have 10000"))
        #expect(limits.contains("6000 services more; a manifest may have 10000"))
    }
}
