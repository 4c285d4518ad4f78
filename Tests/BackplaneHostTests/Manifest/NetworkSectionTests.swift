import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Testing

@testable import BackplaneHost

/// The `network` of a manifest: read, and laid over by environments.
@Suite(.timeLimit(.minutes(5)))
struct NetworkSectionTests {
    private func read(_ network: String, _ more: String = "", environment: String? = nil) -> ManifestDocument {
        let text = #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": \#(network)\#(more)}"#
        return ManifestDocument(parsing: Data(text.utf8), environment: environment) { _ in "ca.pem" }
    }

    @Test func `executors and settings of TLS are read`() throws {
        let document = read(
            #"{"executors": {"archive": "M", "x+y": "N"}, "tls": {"books.test": {"roots": "${CA}", "minimum": "1.3"}, "[::1]": {}}}"#
        )
        #expect(document.problems.isEmpty, "\(document.problems)")
        let network = document.manifest.network
        #expect(network.executors == ["archive": "M", "x+y": "N"])
        #expect(
            network.tls == ["books.test": TLSSettings(roots: "ca.pem", minimum: .tls13), "[::1]": TLSSettings()])
        #expect(read("{}").manifest.network == NetworkSettings())
    }

    @Test(arguments: [
        ("books.test", true), ("127.0.0.1", true), ("[::1]", true), ("my_host-1", true), ("Books.test", false),
        ("a..b", false), ("a b", false), ("[]", false), ("a/b", false), ("", false),
    ])
    func `what a host's name is does not depend on where it stands`(name: String, isOne: Bool) {
        for network in [
            #"{"traced": ["\#(name)"]}"#, #"{"tls": {"\#(name)": {}}}"#,
            #"{"filters": [{"manager": "M", "hosts": ["\#(name)"]}]}"#,
            #"{"credentials": {"c": {"type": "digest", "hosts": ["\#(name)"]}}}"#,
        ] {
            #expect(read(network).problems.isEmpty == isOne, "\(network)")
        }
    }

    @Test func `filters and observers are read in their order`() throws {
        let text =
            #"{"filters": ["A", {"manager": "${CA}", "hosts": ["${CA}", "127.0.0.1"]}, "A"], "observers": ["B", "${CA}"]}"#
        let document = read(text)
        #expect(document.problems.isEmpty, "\(document.problems)")
        let network = document.manifest.network
        #expect(
            network.filters == [
                NetworkFilter("A"), NetworkFilter("ca.pem", hosts: ["ca.pem", "127.0.0.1"]), NetworkFilter("A"),
            ])
        #expect(network.observers == ["B", "ca.pem"])
        let changed = read(
            text, #", "environments": {"test": {"network": {"filters": null, "observers": ["C"]}}}"#,
            environment: "test")
        #expect(changed.problems.isEmpty, "\(changed.problems)")
        #expect(changed.manifest.network == NetworkSettings(observers: ["C"]))
        let most = (0...ManifestLimits.filters).map { #""M\#($0)""# }.joined(separator: ", ")
        for key in ["filters", "observers"] {
            let error = read(#"{"\#(key)": [\#(most)]}"#).problems.map(\.error)
            #expect(error.map(\.message) == ["101 \(key); a manifest may have 100"])
        }
    }

    @Test func `what sends for others passes no component of its own kind, and no circle leads back`() {
        let managers: [String: ManagerDefinition] = [
            "E": ManagerDefinition(className: "M", uses: ["used": "U"]), "U": ManagerDefinition(className: "M"),
            "F": ManagerDefinition(className: "M"), "O": ManagerDefinition(className: "M", uses: ["a": "F", "b": "V"]),
            "V": ManagerDefinition(className: "M", uses: ["u": "U"]), "M": ManagerDefinition(className: "M"),
        ]
        let manifest = Manifest(
            managers: managers,
            network: NetworkSettings(
                executors: ["http": "E"], filters: [NetworkFilter("F")], observers: ["O", "Missing"]))
        let parts = manifest.networkParts
        #expect(parts["E"] == .executor && parts["F"] == [.filter, .observer] && parts["V"] == .observer)
        #expect(parts["U"] == [.executor, .observer] && parts["M"] == nil)
        for part in [NetworkParts.executor, .filter, .authenticator, .observer] {
            #expect(part.passed.isDisjoint(with: part))
            for next in [NetworkParts.executor, .filter, .authenticator] where part.passed.contains(next) {
                #expect(next.passed.isDisjoint(with: [part]) || part == .observer)
            }
        }
        #expect(NetworkParts().passed == [.executor, .filter, .authenticator, .observer])
        #expect(NetworkParts.observer.passed == [])
    }

    @Test func `an environment changes them`() {
        let text = #"{"executors": {"archive": "M"}, "tls": {"books.test": {"roots": "a"}}}"#
        let more =
            #", "environments": {"test": {"network": {"executors": {"archive": null, "b": "M"}, "tls": {"books.test": {"minimum": "1.2"}}}}}"#
        let document = read(text, more, environment: "test")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.executors == ["b": "M"])
        #expect(document.manifest.network.tls == ["books.test": TLSSettings(roots: "a", minimum: .tls12)])
    }

    @Test(arguments: [
        (#"{"executors": {"Archive": "M"}}"#, "expected a URL scheme", "/network/executors/Archive"),
        (#"{"executors": {"1a": "M"}}"#, "expected a URL scheme", "/network/executors/1a"),
        (#"{"executors": {"": "M"}}"#, "expected a URL scheme", "/network/executors/"),
        (#"{"executors": {"a": 1}}"#, "expected a string, found an integer", "/network/executors/a"),
        (#"{"filters": "F"}"#, "expected an array, found a string", "/network/filters"),
        (#"{"filters": [1]}"#, "expected a string or a dictionary, found an integer", "/network/filters/0"),
        (#"{"filters": [""]}"#, "expected a name of 1 to 4096 bytes, found 0 bytes", "/network/filters/0"),
        (#"{"filters": [{"hosts": ["a.test"]}]}"#, "`manager` is missing", "/network/filters/0/manager"),
        (#"{"filters": [{"manager": "F", "hosts": []}]}"#, "`hosts` is empty", "/network/filters/0/hosts"),
        (
            #"{"filters": [{"manager": "F", "hosts": ["http://a.test"]}]}"#, "expected the name of a host",
            "/network/filters/0/hosts/0"
        ),
        (
            #"{"filters": [{"manager": "F", "host": ["a.test"]}]}"#, "unknown key `host`; did you mean `hosts`?",
            "/network/filters/0/host"
        ),
        (#"{"observers": [{}]}"#, "expected a string, found a dictionary", "/network/observers/0"),
        (#"{"serializers": {"a": 1}}"#, "expected a string, found an integer", "/network/serializers/a"),
        (#"{"executors": []}"#, "expected a dictionary, found an array", "/network/executors"),
        (
            #"{"tls": {"a.test": {"root": "ca.pem"}}}"#, "unknown key `root`; did you mean `roots`?",
            "/network/tls/a.test/root"
        ),
        (#"{"tls": {"https://a.test": {}}}"#, "expected a host's name", "/network/tls/https:~1~1a.test"),
        (#"{"tls": {"a.test:443": {}}}"#, "expected a host's name", "/network/tls/a.test:443"),
        (#"{"tls": {"A.test": {}}}"#, "expected a host's name", "/network/tls/A.test"),
        (
            #"{"tls": {"a.test": {"minimum": "1.1"}}}"#, "expected `1.2` or `1.3`, found `1.1`",
            "/network/tls/a.test/minimum"
        ),
    ])
    func `a mistake is an error, and lets nothing run`(section: String, message: String, place: String) {
        let document = read(section)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error)
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == place)
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `an unknown key is a warning`() {
        let document = read(#"{"executor": {}}"#)
        #expect(document.problems.map(\.severity) == [.warning])
        #expect(document.problems.map(\.error.location) == ["/network/executor"])
    }
}
