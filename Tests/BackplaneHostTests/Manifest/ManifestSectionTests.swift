import Backplane
import BackplaneDocuments
import BackplaneStorage
import FoundationEssentials
import Testing

@testable import BackplaneHost

/// The sections of a manifest beside its plugins and managers: read, and laid over by environments.
struct ManifestSectionTests {
    private func read(_ members: String, environment: String? = nil, variable: String? = nil) -> ManifestDocument {
        let text = #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, \#(members)}"#
        return ManifestDocument(parsing: Data(text.utf8), environment: environment) { _ in variable }
    }

    @Test func `the treatment of a damaged store is read and defaulted`() throws {
        let document = read(#""store": {"damaged": "refuse"}"#)
        #expect(document.problems.isEmpty && document.manifest.store.damaged == .refuse)
        for text in [#""store": {}"#, #""store": {"damaged": "salvage"}"#, #""environments": {}"#] {
            let document = read(text)
            #expect(document.problems.isEmpty && document.manifest.store.damaged == .salvage)
        }
    }

    @Test func `an environment changes a section, and a variable stands for its text`() {
        let text = #""store": {"damaged": "${POLICY:-refuse}"}, "environments": {"lax": {"store": {"damaged": null}}}"#
        #expect(read(text).manifest.store.damaged == .refuse)
        #expect(read(text, variable: "salvage").manifest.store.damaged == .salvage)
        let lax = read(text, environment: "lax")
        #expect(lax.problems.isEmpty && lax.manifest.store.damaged == .salvage)
    }

    @Test func `a key that nobody knows is a warning with a suggestion`() {
        let document = read(#""store": {"damagd": "refuse"}, "stor": {}"#)
        #expect(document.problems.map(\.severity) == [.warning, .warning])
        #expect(document.problems.map(\.error.location) == ["/stor", "/store/damagd"])
        #expect(document.problems[0].error.message.contains("did you mean `store`?"))
        #expect(document.problems[1].error.message.contains("did you mean `damaged`?"))
        #expect(document.manifest.managers.count == 1)
    }

    @Test(arguments: [
        (#"{"damaged": "repair"}"#, "expected `salvage` or `refuse`, found `repair`", "/store/damaged"),
        (#"{"damaged": 1}"#, "expected a string, found an integer", "/store/damaged"),
        (#"{"damaged": "${X}"}"#, "expected `salvage` or `refuse`, found `${X}`", "/store/damaged"),
        ("[]", "expected a dictionary, found an array", "/store"),
    ])
    func `a section with an error lets nothing run, since its default might do harm`(
        section: String, message: String, place: String
    ) {
        let document = read(#""store": \#(section)"#, variable: "a secret")
        #expect(document.problems.map(\.error.message) == [message])
        #expect(document.problems.map(\.error.location) == [place])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `a mistake in an environment that is not chosen is a warning`() {
        let document = read(#""environments": {"strict": {"store": {"damaged": "no"}}}"#)
        #expect(document.problems == [] && document.rehearsal.map(\.severity) == [.warning])
        #expect(document.rehearsal.first?.error.location == "/environments/strict/store/damaged")
        #expect(document.manifest.managers.count == 1)
    }

    @Test func `a section is written before the environments, its keys in their order`() throws {
        let value: ManifestValue = [
            "lock": [:], "store": ["damaged": "refuse"], "environments": [:], "managers": [:], "manifestVersion": 1,
        ]
        let text = String(decoding: try value.encoded(as: .json), as: UTF8.self)
        let places = ["manifestVersion", "managers", "store", "environments", "lock"].compactMap {
            text.firstRange(of: "\"\($0)\"")?.lowerBound
        }
        #expect(places.count == 5 && places == places.sorted())
    }

    @Test func `the treatment of long calls is read and defaulted`() throws {
        for (section, drain) in [
            ("{}", DrainPolicy.standard), (#"{"drain": 0.2, "longCalls": "later"}"#, .standard),
            (#"{"drain": 2, "longCalls": "cancel"}"#, .upTo(.seconds(2), then: .cancel)),
            (#"{"drain": 0.05, "longCalls": "${CALLS:-fail}"}"#, .upTo(.milliseconds(50), then: .fail)),
            (
                #"{"retries": 3, "retryFor": 60}"#,
                .upTo(.milliseconds(200), then: .retry(attempts: 3, within: .seconds(60)))
            ),
        ] {
            let document = read(#""swap": \#(section)"#)
            #expect(document.problems.isEmpty, "\(document.problems)")
            #expect(document.manifest.swap.drain == drain)
        }
    }

    @Test(arguments: [
        (#"{"drain": "1"}"#, "expected a number of seconds, found a string", "/swap/drain"),
        (#"{"drain": 0}"#, "expected a number of seconds from 0.001 to 86400, found 0.0", "/swap/drain"),
        (#"{"longCalls": "never"}"#, "expected `later` or `cancel` or `fail`, found `never`", "/swap/longCalls"),
        (#"{"retries": 0}"#, "expected a number from 1 to 1000000, found 0", "/swap/retries"),
        (
            #"{"longCalls": "fail", "retryFor": 1}"#, #"`retryFor` needs `"longCalls": "later"`"#, "/swap/retryFor"
        ),
    ])
    func `a mistake in the treatment of long calls is an error`(section: String, message: String, place: String) {
        let document = read(#""swap": \#(section)"#)
        #expect(document.problems.map(\.error.message) == [message])
        #expect(document.problems.map(\.error.location) == [place])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `the hosts that traces are sent to are read and defaulted`() throws {
        let document = read(
            #""network": {"traced": ["${HOST:-books.example.org}", "127.0.0.1"]}, "environments": {"quiet": {"network": null}}"#
        )
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.traced == ["books.example.org", "127.0.0.1"])
        let quiet = read(
            #""network": {"traced": ["a"]}, "environments": {"quiet": {"network": null}}"#, environment: "quiet")
        #expect(quiet.problems.isEmpty && quiet.manifest.network.traced == [])
    }

    @Test(arguments: [
        (#"{"traced": "a"}"#, "expected an array, found a string", "/network/traced"),
        (#"{"traced": ["a", 1]}"#, "expected a string, found an integer", "/network/traced/1"),
        (
            #"{"traced": ["https://a.example.org"]}"#,
            "expected the name of a host in lower case, without scheme and port, such as `books.example.org`, found `https://a.example.org`",
            "/network/traced/0"
        ),
        (
            #"{"traced": ["${X}"]}"#,
            "expected the name of a host in lower case, without scheme and port, such as `books.example.org`, found `${X}`",
            "/network/traced/0"
        ),
    ])
    func `a host that cannot be one is an error`(section: String, message: String, place: String) {
        let document = read(#""network": \#(section)"#, variable: "a secret:80")
        #expect(document.problems.map(\.error.message) == [message])
        #expect(document.problems.map(\.error.location) == [place])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `only what differs in effect is a change`() {
        let old = StoreSettings()
        #expect(old.changes(to: StoreSettings(damaged: .refuse)) == ["/store/damaged"])
        #expect(old.changes(to: read(#""store": {"damaged": "salvage"}"#).manifest.store) == [])
    }
}
