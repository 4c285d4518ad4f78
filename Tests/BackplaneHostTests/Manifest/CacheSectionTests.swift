import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The `cache` in a manifest's `network`: read, and held as long as its settings stay.
struct CacheSectionTests {
    private func text(_ cache: String, _ more: String = "") -> String {
        #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": {"cache": \#(cache)}\#(more)}"#
    }

    private func read(_ cache: String, _ more: String = "", environment: String? = nil) -> ManifestDocument {
        ManifestDocument(parsing: Data(text(cache, more).utf8), environment: environment) { _ in "Expanded" }
    }

    @Test(arguments: [
        ("{}", CacheSettings()), (#"{"memory": 0, "disk": 0}"#, CacheSettings(memory: 0, disk: 0)),
        (#"{"memory": 1048576, "provider": "${NAME}"}"#, CacheSettings(memory: 1 << 20, provider: "Expanded")),
    ])
    func `limits and the provider are read`(text: String, settings: CacheSettings) {
        let document = read(text)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.cache == settings)
    }

    @Test func `an environment changes them`() {
        let document = read(
            #"{"memory": 1, "disk": 2}"#,
            #", "environments": {"test": {"network": {"cache": {"disk": null, "provider": "M"}}}}"#,
            environment: "test")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.cache == CacheSettings(memory: 1, provider: "M"))
    }

    @Test(arguments: [
        ("[]", "expected a dictionary, found an array", ""),
        (
            #"{"memory": "32 MB"}"#, "expected a number of bytes from 0 to 1125899906842624, found `32 MB`", "/memory"
        ),
        (
            #"{"memory": "${NAME}"}"#, "expected a number of bytes from 0 to 1125899906842624, found `${NAME}`",
            "/memory"
        ),
        (#"{"memory": -1}"#, "expected a number of bytes from 0 to 1125899906842624, found -1", "/memory"),
        (#"{"disk": 1.5}"#, "expected a number of bytes from 0 to 1125899906842624, found 1.5", "/disk"),
        (#"{"disk": []}"#, "expected a number of bytes from 0 to 1125899906842624, found an array", "/disk"),
        (#"{"provider": ""}"#, "`provider` is empty", "/provider"),
        (#"{"disk": 1, "provider": "M"}"#, "`provider` takes the place of the disk; remove `disk`", "/disk"),
        (#"{"folder": "x"}"#, "unknown key `folder`", "/folder"),
    ])
    func `a mistake is an error, for editors, too, and lets nothing run`(
        cache: String, message: String, place: String
    ) throws {
        let document = read(cache)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error)
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/network/cache" + place)
        #expect(document.manifest.managers.isEmpty)
        #expect(try !JSONSchema.ofManifests.accepts(text(cache)))
    }

    @Test func `manifests with one kind of cache share it, and another kind is another cache`() {
        func document(_ settings: CacheSettings) -> ManifestDocument {
            ManifestDocument(Manifest(managers: [:], network: NetworkSettings(cache: settings)))
        }
        let network = HostNetwork(HostNetwork.Means([], TestClock()), document(CacheSettings()))
        let first = network.active.cache
        network.follow(document(CacheSettings()))
        #expect(network.active.cache === first)
        let other = network.network(of: document(CacheSettings(memory: 1)))
        #expect(other.cache !== first)
        #expect(network.network(of: document(CacheSettings(memory: 1))).cache === other.cache)
    }

    @Test func `exchanges of the provider, and of those that take part in exchanges, pass no cache`() {
        let managers: [String: ManagerDefinition] = [
            "P": ManagerDefinition(className: "M", uses: ["used": "U"]), "U": ManagerDefinition(className: "M"),
            "I": ManagerDefinition(className: "M"), "M": ManagerDefinition(className: "M"),
        ]
        let manifest = Manifest(
            managers: managers,
            network: NetworkSettings(
                interceptors: [NetworkInterceptor("I")], cache: CacheSettings(provider: "P")))
        #expect(manifest.networkParts["P"] == .cache && manifest.networkParts["U"] == .cache)
        #expect(manifest.network.managers.contains("P"))
        let network = HostNetwork(HostNetwork.Means([], TestClock()), ManifestDocument(manifest)).active
        #expect(network.pipeline(of: ["M"]).cache === network.cache)
        for name in ["P", "U", "I"] { #expect(network.pipeline(of: [name]).cache == nil, "\(name)") }
        #expect(network.pipeline(of: ["M", "P"]).cache == nil, "called by the provider")
    }
}
