import Backplane
import BackplaneDocuments
import BackplaneStorage
import FoundationEssentials
import Testing

@testable import BackplaneHost

/// The sections of a manifest beside its plugins and managers: read, written, and laid over by environments.
@Suite(.timeLimit(.minutes(5)))
struct ManifestSectionTests {
    private func read(_ members: String, environment: String? = nil, variable: String? = nil) -> ManifestDocument {
        let text = #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, \#(members)}"#
        return ManifestDocument(parsing: Data(text.utf8), environment: environment) { _ in variable }
    }

    @Test func `the treatment of a damaged store is read, written and defaulted`() throws {
        let document = read(#""store": {"damaged": "refuse"}"#)
        #expect(document.problems.isEmpty && document.manifest.store.damaged == .refuse)
        #expect(ManifestDocument(document.manifest.value).manifest == document.manifest)
        for text in [#""store": {}"#, #""store": {"damaged": "salvage"}"#, #""environments": {}"#] {
            let document = read(text)
            #expect(document.problems.isEmpty && document.manifest.store.damaged == .salvage)
            guard case .dictionary(let root) = document.manifest.value else { preconditionFailure("a root is one") }
            #expect(root["store"] == nil, "a default is not written")
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
        #expect(document.problems.map(\.severity) == [.warning])
        #expect(document.problems.first?.error.location == "/environments/strict/store/damaged")
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

    @Test func `only what differs in effect is a change`() {
        let old = Manifest(managers: [:]), new = Manifest(managers: [:], store: StoreSettings(damaged: .refuse))
        let changes = ManifestSection.all.flatMap { $0.fixedChanges(from: old, to: new) }
        #expect(changes == ["/store/damaged"])
        let written = read(#""store": {"damaged": "salvage"}"#).manifest
        #expect(ManifestSection.all.flatMap { $0.fixedChanges(from: old, to: written) } == [])
    }
}
