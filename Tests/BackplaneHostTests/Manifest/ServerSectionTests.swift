import Backplane
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The section `server` of a manifest.
struct ServerSectionTests {
    private func text(_ server: String, _ more: String = "") -> String {
        #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "server": \#(server)\#(more)}"#
    }

    private func read(_ server: String, _ more: String = "", environment: String? = nil) -> ManifestDocument {
        ManifestDocument(parsing: Data(text(server, more).utf8), environment: environment) { _ in "8081" }
    }

    @Test(arguments: [
        ("{}", ServerSettings()),
        (#"{"listen": "[::1]:0", "mount": {"M": "/api"}}"#, ServerSettings(listen: "[::1]:0", mount: ["M": "/api"])),
        (#"{"listen": "localhost:${PORT}", "mount": {}}"#, ServerSettings(listen: "localhost:8081", mount: [:])),
        (
            #"{"limits": {"body": 0, "concurrent": 1, "waiting": 0, "timeout": 0.5}}"#,
            ServerSettings(
                limits: ServerLimits(body: 0, concurrent: 1, waiting: 0, timeout: .milliseconds(500)))
        ),
        (
            #"{"tls": {"certificate": "a.pem", "key": "b.pem"}, "health": "/healthz", "metrics": "/m/all"}"#,
            ServerSettings(
                tls: ServerTLS(certificate: "a.pem", key: "b.pem"), health: "/healthz", metrics: "/m/all")
        ),
    ])
    func `Its settings are read`(text: String, settings: ServerSettings) throws {
        let document = read(text)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.server == settings)
        #expect(try JSONSchema.ofManifests.accepts(self.text(text)))
    }

    @Test func `An environment changes it, or takes it away`() {
        let environments =
            #", "environments": {"test": {"server": {"listen": "127.0.0.1:0"}}, "none": {"server": null}}"#
        let test = read(#"{"health": "/up"}"#, environments, environment: "test")
        #expect(test.manifest.server == ServerSettings(listen: "127.0.0.1:0", health: "/up"))
        #expect(read("{}", environments, environment: "none").manifest.server == nil)
    }

    private static let address =
        "expected a host in lower case and a port up to 65535, such as `127.0.0.1:8080` or `[::1]:8080`, found "

    @Test(arguments: [
        ("[]", "expected a dictionary, found an array", ""),
        (#"{"listen": 8080}"#, "expected a string, found an integer", "/listen"),
        (#"{"listen": ":8080"}"#, address + "`:8080`", "/listen"),
        (#"{"listen": "8080"}"#, address + "`8080`", "/listen"),
        (#"{"listen": "::1:8080"}"#, address + "`::1:8080`", "/listen"),
        (#"{"listen": "http://localhost:80"}"#, address + "`http://localhost:80`", "/listen"),
        (#"{"listen": "localhost:08"}"#, address + "`localhost:08`", "/listen"),
        (#"{"mount": {"M": "api"}}"#, "`api` is not a path: expected a pattern that begins with `/`", "/mount/M"),
        (#"{"mount": {"M": "/api/"}}"#, "`/api/` is not a path: a pattern has no empty segments", "/mount/M"),
        (#"{"health": "/a?b"}"#, "`/a?b` is not a path: no path has the segment `a?b`", "/health"),
        (#"{"health": "/:x"}"#, "`/:x` is not a path: it has the parameter `x`", "/health"),
        (#"{"limits": {"concurrent": 0}}"#, "expected a number from 1 to 100000, found 0", "/limits/concurrent"),
        (#"{"limits": {"size": 1}}"#, "unknown key `size`", "/limits/size"),
        (#"{"tls": {"certificate": "a.pem"}}"#, "`key` is missing", "/tls/key"),
    ])
    func `A mistake is an error, for editors, too`(server: String, message: String, place: String) throws {
        let document = read(server)
        #expect(document.problems.first?.severity == .error)
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/server" + place)
        #expect(try !JSONSchema.ofManifests.accepts(text(server)))
    }
}
