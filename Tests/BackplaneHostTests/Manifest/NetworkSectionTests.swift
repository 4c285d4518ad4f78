import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Testing

@testable import BackplaneHost

/// The `network` of a manifest: read, and laid over by environments.
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
            #"{"interceptors": [{"manager": "M", "hosts": ["\#(name)"]}]}"#,
            #"{"credentials": {"c": {"type": "digest", "hosts": ["\#(name)"]}}}"#,
        ] {
            #expect(read(network).problems.isEmpty == isOne, "\(network)")
        }
    }

    @Test func `interceptors are read in their order`() throws {
        let text = #"{"interceptors": ["A", {"manager": "${CA}", "hosts": ["${CA}", "127.0.0.1"]}, "A"]}"#
        let document = read(text)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            document.manifest.network.interceptors == [
                NetworkInterceptor("A"), NetworkInterceptor("ca.pem", hosts: ["ca.pem", "127.0.0.1"]),
                NetworkInterceptor("A"),
            ])
        let changed = read(
            text, #", "environments": {"test": {"network": {"interceptors": ["C"]}}}"#, environment: "test")
        #expect(changed.problems.isEmpty, "\(changed.problems)")
        #expect(changed.manifest.network == NetworkSettings(interceptors: [NetworkInterceptor("C")]))
        let most = (0...ManifestLimits.interceptors).map { #""M\#($0)""# }.joined(separator: ", ")
        let error = read(#"{"interceptors": [\#(most)]}"#).problems.map(\.error)
        #expect(error.map(\.message) == ["101 interceptors; a manifest may have 100"])
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
                executors: ["http": "E"], interceptors: ["F", "O", "Missing"].map { NetworkInterceptor($0) }))
        let parts = manifest.networkParts
        #expect(parts["E"] == .executor && parts["F"] == .interceptor && parts["V"] == .interceptor)
        #expect(parts["U"] == [.executor, .interceptor] && parts["M"] == nil)
        let all: [NetworkParts] = [.executor, .interceptor, .authenticator, .cache]
        for part in all {
            #expect(part.passed.isDisjoint(with: part))
            for next in all where part.passed.contains(next) { #expect(next.passed.isDisjoint(with: part)) }
        }
        #expect(NetworkParts().passed == [.executor, .interceptor, .authenticator, .cache])
        #expect(NetworkParts.executor.passed == [])
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
        (#"{"executors": {"a": 1}}"#, "expected a string, found an integer", "/network/executors/a"),
        (#"{"interceptors": "F"}"#, "expected an array, found a string", "/network/interceptors"),
        (#"{"interceptors": [""]}"#, "expected a name of 1 to 4096 bytes, found 0 bytes", "/network/interceptors/0"),
        (#"{"interceptors": [{"hosts": ["a.test"]}]}"#, "`manager` is missing", "/network/interceptors/0/manager"),
        (#"{"interceptors": [{"manager": "F", "hosts": []}]}"#, "`hosts` is empty", "/network/interceptors/0/hosts"),
        (
            #"{"interceptors": [{"manager": "F", "hosts": ["http://a.test"]}]}"#, "expected the name of a host",
            "/network/interceptors/0/hosts/0"
        ),
        (
            #"{"interceptors": [{"manager": "F", "host": ["a.test"]}]}"#, "unknown key `host`; did you mean `hosts`?",
            "/network/interceptors/0/host"
        ),
        (
            #"{"observers": ["O"]}"#, "unknown key `observers`; name its managers in `interceptors`",
            "/network/observers"
        ),
        (#"{"executors": []}"#, "expected a dictionary, found an array", "/network/executors"),
        (
            #"{"tls": {"a.test": {"root": "ca.pem"}}}"#, "unknown key `root`; did you mean `roots`?",
            "/network/tls/a.test/root"
        ),
        (#"{"tls": {"https://a.test": {}}}"#, "expected a host's name", "/network/tls/https:~1~1a.test"),
        (#"{"tls": {"a.test:443": {}}}"#, "expected a host's name", "/network/tls/a.test:443"),
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
