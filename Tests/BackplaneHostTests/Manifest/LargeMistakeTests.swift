import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// Mistakes that are many, or large: what is said of them stays small, and so does the time it takes.
@Suite(.timeLimit(.minutes(5)))
struct LargeMistakeTests {
    private static let catalogue = Catalogue(plugins: [.manager("M", wires: [.to("next", .of("Any"), optional: true)])])

    @Test func `a name of half a million letters is refused without repeating it`() {
        let name = String(repeating: "C", count: 500_000)
        let problems = Resolution(.dictionary(["M": ["className": .string(name)]]), Self.catalogue).problems
        #expect(problems.contains { $0.error.message == "expected at most 4096 bytes, found 500000" })
        #expect(problems.allSatisfy { $0.error.description.utf8.count < 500 })
    }

    @Test(arguments: ["\"", "<string>"])
    func `a key is at most a thousand bytes long`(spelling: String) {
        let long = String(repeating: "k", count: 1_025), most = String(long.dropLast())
        func document(_ key: String) -> ManifestDocument {
            let text =
                spelling == "\""
                ? #"{"manifestVersion": 1, "managers": {"M": {"className": "M", "configuration": {"\#(key)": 1}}}}"#
                : "<plist><dict><key>M</key><dict><key>className</key><string>M</string><key>\(key)</key><string/></dict></dict></plist>"
            return ManifestDocument(parsing: Data(text.utf8))
        }
        #expect(document(long).problems.map(\.error.code) == [.manifestUnsupported])
        #expect(document(most).problems.allSatisfy { $0.error.code == .manifestUnknownKey })
    }

    @Test func `thousands of errors are one with a hundred causes and a summary`() throws {
        let classes = (0..<9_999).map { BackplaneError(.unknownClass, "class \($0)") }
        let error = BackplaneError.combining(
            classes + [BackplaneError(.dependencyCycle, "a circle")], of: "the manifest", at: nil)
        #expect(error.message == "the manifest has 10000 errors, the first: class 0")
        #expect(error.causes.count == 101)
        #expect(error.causes[99].message == "class 99")
        #expect(error.causes[100].message == "and 9900 more: 9899 `component.unknown-class`, 1 `manager.cycle`")
        #expect(BackplaneError.combining(Array(classes[..<100]), of: "it", at: nil).causes.count == 100)
    }

    @Test func `a step of a pointer is escaped by its scalars`() {
        #expect("a/\u{301}b".pointerStep == "a~1\u{301}b")
        #expect("~\u{301}".pointerStep == "~0\u{301}")
    }
}
