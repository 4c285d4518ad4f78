import Backplane
import BackplaneDocuments
import Foundation
import Testing

@testable import BackplaneHost

/// Manifests with very many of one thing: reading and resolving one costs what its size says, and so does what is said.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct ManifestEffortTests {
    /// Manifests of one kind, with `count` of what the kind is about.
    struct Family: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        let make: @Sendable (_ count: Int) -> String

        init(_ name: String, _ count: Int = 800, _ make: @escaping @Sendable (_ count: Int) -> String) {
            (testDescription, self.count, self.make) = (name, count, make)
        }

        func document(_ times: Int) -> Data { Data(make(count * times).utf8) }
    }

    private static func members(_ count: Int, _ member: (Int) -> String) -> String {
        (0..<count).map(member).joined(separator: ",")
    }

    private static func manifest(_ managers: String, _ rest: String = "") -> String {
        #"{"manifestVersion":1,"managers":{\#(managers)}\#(rest)}"#
    }

    private static func manager(_ rest: String) -> String { manifest(#""A":{"className":"A",\#(rest)}"#) }

    static let families: [Family] = [
        Family("values of a configuration", 2_500) { count in
            manager(#""configuration":{"a":[\#(members(count) { "\($0)" })]}"#)
        },
        Family("keys of a configuration") { count in
            manager(#""configuration":{\#(members(count) { #""k\#($0)":1"# })}"#)
        },
        Family("dictionaries in arrays") { count in
            manager(#""configuration":{"a":[\#(members(count) { _ in #"{"a":[[1]]}"# })]}"#)
        },
        Family("unknown keys of the manifest") { count in manifest("", "," + members(count) { #""k\#($0)":1"# }) },
        Family("unknown keys of a manager") { count in manager(members(count) { #""k\#($0)":1"# }) },
        Family("managers", 250) { count in manifest(members(count) { #""k\#($0)":{"className":"A"}"# }) },
        Family("managers that are none", 250) { count in manifest(members(count) { #""k\#($0)":1"# }) },
        Family("managers that use the next", 250) { count in
            manifest(members(count) { #""k\#($0)":{"className":"A","uses":{"a":"k\#(($0 + 1) % count)"}}"# })
        },
        Family("uses of managers that are not there") { count in
            manager(#""uses":{\#(members(count) { #""u\#($0)":"z\#($0)""# })}"#)
        },
        Family("services", 250) { count in
            let services = members(count) { #"{"className":"S","propertyName":"s\#($0)"}"# }
            return manager(#""communicationController":{"className":"B","services":[\#(services)]}"#)
        },
        Family("services for one property", 250) { count in
            let services = members(count) { _ in #"{"className":"S","propertyName":"s"}"# }
            return manager(#""communicationController":{"className":"B","services":[\#(services)]}"#)
        },
        Family("libraries that are none", 250) { count in
            manifest("", #","plugins":[\#(members(count) { _ in "1" })]"#)
        },
        Family("variables") { count in
            manager(#""configuration":{"a":[\#(members(count) { _ in #""${HOME}""# })]}"#)
        },
        Family("variables that are not set") { count in
            manager(#""configuration":{"a":[\#(members(count) { #""${NOPE\#($0)}""# })]}"#)
        },
        Family("variables in one text") { count in
            manager(#""configuration":{"a":"\#(String(repeating: "${HOME}", count: count))"}"#)
        },
        Family("entries of a lock") { count in
            manifest("", #","lock":{\#(members(count) { #""/k\#($0)":{"plugin":"p","version":"1.0.0"}"# })}"#)
        },
        Family("managers of an environment", 250) { count in
            manifest(
                #""A":{"className":"A"}"#,
                #","environments":{"e":{"managers":{\#(members(count) { #""k\#($0)":{"className":"A"}"# })}}}"#)
        },
        Family("escapes in a text", 2_500) { count in
            manager(#""configuration":{"a":"\#(String(repeating: #"\u00e9"#, count: count))"}"#)
        },
        Family("elements of a property list") { count in
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict><key>manifestVersion</key><integer>1"
                + "</integer><key>managers</key><dict/>"
                + (0..<count).map { "<key>k\($0)</key><string>&amp;</string>" }.joined() + "</dict></plist>"
        },
    ]

    @Test(arguments: families)
    func `what is said of a manifest ends`(_ family: Family) {
        let document = ManifestDocument(parsing: family.document(8)) { _ in nil }
        let managers = Set(document.problems.compactMap(\.manager)).count
        #expect(document.problems.count <= 2 * ManifestLimits.problems + 2 + managers)
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
