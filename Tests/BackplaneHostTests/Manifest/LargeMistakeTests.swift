import Backplane
import BackplaneDocuments
import FoundationEssentials
import Testing

@testable import BackplaneHost

/// Mistakes that are many, or large: what is said of them stays small, and so does the time it takes.
@Suite(.timeLimit(.minutes(5)))
struct LargeMistakeTests {
    private static let catalogue = Catalogue(plugins: [.manager("M", wires: [.to("next", .of("Any"), optional: true)])])

    @Test func `a cycle of ten thousand managers is reported for each of them on one short line`() {
        let names = (0..<10_000).map { "M\($0)" }
        var managers: [String: ManifestValue] = [:]
        for (index, name) in names.enumerated() {
            managers[name] = ["className": "M", "uses": ["next": .string(names[(index + 1) % names.count])]]
        }
        let circles = Resolution(.dictionary(managers), Self.catalogue).problems.filter {
            $0.error.code == .dependencyCycle
        }
        #expect(circles.count == names.count)
        #expect(circles.allSatisfy { $0.error.message.utf8.count < 500 && $0.error.message.contains("9981 more") })
    }

    @Test func `a name of half a million letters is refused without repeating it`() {
        let name = String(repeating: "C", count: 500_000)
        let problems = Resolution(.dictionary(["M": ["className": .string(name)]]), Self.catalogue).problems
        #expect(problems.contains { $0.error.message == "expected at most 4096 bytes, found 500000" })
        #expect(problems.allSatisfy { $0.error.description.utf8.count < 500 })
    }

    @Test func `fifty thousand uses of managers that are not there are all told, and hints end`() {
        var uses: [String: ManifestValue] = [:], managers: [String: ManifestValue] = [:]
        for index in 0..<50_000 { uses["u\(index)"] = .string("Nobody\(index)") }
        for index in 0..<900 { managers["Somebody\(index)"] = ["className": "M"] }
        managers["M"] = ["className": "M", "uses": .dictionary(uses)]
        let unknown = Resolution(.dictionary(managers), Self.catalogue).problems.filter {
            $0.error.code == .unknownManager
        }
        #expect(unknown.count == 50_000)
        #expect(unknown.first?.error.message.contains("there are") == true)
        #expect(unknown.last?.error.message.hasPrefix("no manager is named `Nobody") == true)
    }

    @Test func `forty thousand lock entries and five thousand unreadable managers are compared`() {
        var managers: [String: ManifestValue] = [:], lock: [String: ManifestValue] = [:]
        for index in 0..<5_000 { managers["M\(index)"] = ["className": 5] }
        for index in 0..<40_000 { lock["M\(index)/dataAccessController"] = ["plugin": "org.p0", "version": "1.0.0"] }
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": .dictionary(managers), "lock": .dictionary(lock),
        ])
        let obsolete = Resolution(document, catalogue: Self.catalogue).problems.filter {
            $0.error.code == .lockObsolete
        }
        #expect(obsolete.count == 35_000)
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

    @Test func `positions are found next to a large unused array`() {
        let array = Array(repeating: "0", count: 200_000).joined(separator: ",")
        let text =
            #"{"manifestVersion": 1, "managers": {"M": {"configuration": {"\#(String(repeating: "k", count: 1_000))": [\#(array)]}}}}"#
        #expect(
            ManifestDocument(parsing: Data(text.utf8)).problems.map(\.position) == [SourcePosition(line: 1, column: 37)]
        )
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
