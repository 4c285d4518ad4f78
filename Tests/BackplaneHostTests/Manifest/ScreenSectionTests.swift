import Backplane
import BackplaneDocuments
import BackplaneScreens
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The section `screens` of a manifest.
struct ScreenSectionTests {
    private func text(_ screens: String, _ more: String = "") -> String {
        #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "screens": \#(screens)\#(more)}"#
    }

    private func read(_ screens: String, _ more: String = "", environment: String? = nil) -> ManifestDocument {
        ManifestDocument(parsing: Data(text(screens, more).utf8), environment: environment) { _ in "x.y" }
    }

    private static func destination(_ screen: String, _ input: String = "null") -> Destination {
        var destination = try! Destination(screen)
        destination.input = input
        return destination
    }

    @Test(arguments: [
        ("{}", ScreenSettings()),
        (#"{"root": "a.list"}"#, ScreenSettings(root: destination("a.list"))),
        (
            #"{"root": {"screen": "${SCREEN}", "input": {"b": [1, null], "a": "${X}"}}, "flow": "M"}"#,
            ScreenSettings(root: destination("x.y", #"{"a":"x.y","b":[1,null]}"#), flow: "M")
        ),
        (
            #"{"tabs": ["a", {"screen": "b", "title": "B", "input": 7}, {"screen": "c"}], "use": {"a": "M"}}"#,
            ScreenSettings(
                tabs: [
                    ScreenTab(destination("a")), ScreenTab(destination("b", "7"), title: "B"),
                    ScreenTab(destination("c")),
                ], use: ["a": "M"])
        ),
    ])
    func `Its settings are read`(text: String, settings: ScreenSettings) throws {
        let document = read(text)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.screens == settings)
        #expect(try JSONSchema.ofManifests.accepts(self.text(text)))
    }

    @Test func `An environment changes it, or takes it away`() {
        let environments =
            #", "environments": {"test": {"screens": {"root": "b"}}, "none": {"screens": null}}"#
        let test = read(#"{"root": "a", "flow": "M"}"#, environments, environment: "test")
        #expect(test.manifest.screens == ScreenSettings(root: Self.destination("b"), flow: "M"))
        #expect(read("{}", environments, environment: "none").manifest.screens == nil)
    }

    @Test(arguments: [
        ("[]", "expected a dictionary, found an array", ""),
        (#"{"root": 7}"#, "expected a string or a dictionary, found an integer", "/root"),
        (#"{"root": ""}"#, "expected a name of 1 to 4096 bytes, found 0 bytes", "/root"),
        (#"{"root": {"input": 7}}"#, "`screen` is missing", "/root/screen"),
        (#"{"root": {"screen": "a", "title": "A"}}"#, "unknown key `title`", "/root/title"),
        (#"{"tabs": "a"}"#, "expected an array, found a string", "/tabs"),
        (#"{"tabs": ["a", {"screen": "b", "inptu": 7}]}"#, "unknown key `inptu`", "/tabs/1/inptu"),
        (#"{"root": "a", "tabs": ["b"]}"#, "a window begins with one screen, `root`, or with tabs", "/tabs"),
        (#"{"flow": []}"#, "expected a string, found an array", "/flow"),
        (#"{"use": {"a": 7}}"#, "expected a string, found an integer", "/use/a"),
    ])
    func `A mistake is an error, for editors, too`(screens: String, message: String, place: String) throws {
        let document = read(screens)
        #expect(document.problems.first?.severity == .error)
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/screens" + place)
        #expect(try !JSONSchema.ofManifests.accepts(text(screens)))
    }

    @Test func `There are at most 20 tabs`() throws {
        let tabs = #"{"tabs": [\#(Array(repeating: #""a""#, count: 21).joined(separator: ","))]}"#
        #expect(read(tabs).problems.map(\.error.location) == ["/screens/tabs"])
        #expect(try !JSONSchema.ofManifests.accepts(text(tabs)))
    }
}
