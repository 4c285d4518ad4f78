import Backplane
import BackplaneDocuments
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The pins of hosts in a manifest.
struct PinSectionTests {
    private static let hash = "sha256/" + Data(repeating: 1, count: 32).base64EncodedString()

    private func text(_ host: String, _ settings: String) -> String {
        let tls = #"{"\#(host)": \#(settings)}"#
        return #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": {"tls": \#(tls)}}"#
    }

    private func read(_ host: String, _ settings: String) -> ManifestDocument {
        ManifestDocument(parsing: Data(text(host, settings).utf8)) { _ in "backup.pem" }
    }

    @Test func `hashes and files are read, and who is only told of a mismatch`() {
        let settings = #"{"pins": ["\#(Self.hash)", "${BACKUP}"], "reportOnly": true}"#
        for host in ["books.test", "*.books.test"] {
            let document = read(host, settings)
            #expect(document.problems.isEmpty, "\(document.problems)")
            let pins = [CertificatePin.key(sha256: Array(repeating: 1, count: 32)), .file("backup.pem")]
            #expect(document.manifest.network.tls == [host: TLSSettings(pins: pins, reportsOnly: true)])
        }
        #expect(read("books.test", "{}").manifest.network.tls["books.test"]?.pins == [])
    }

    @Test(arguments: ["*", "*.", "a.*.test", "**.test", "*a.test", "*.*.test", "*.127.0.0.1", "*.[::1]", "*.Test"])
    func `a wildcard is a whole first label, before a name`(host: String) throws {
        #expect(read(host, "{}").problems.map(\.error.code) == [.manifestWrongType])
        #expect(try !JSONSchema.ofManifests.accepts(text(host, "{}")))
    }

    @Test(arguments: [
        (#"{"pins": ["\#(hash)"]}"#, "`pins` has one pin; expected at least two", "/pins"),
        (#"{"pins": []}"#, "`pins` is empty; expected at least two", "/pins"),
        (#"{"pins": ["a.pem", "\#(hash)", "a.pem"]}"#, "the pin is listed twice", "/pins/2"),
        (#"{"pins": ["a.pem", "sha256/AAAA"]}"#, "the hash after `sha256/` has 3 bytes", "/pins/1"),
        (#"{"pins": ["sha256/#", "a.pem"]}"#, "the text after `sha256/` is not Base64", "/pins/0"),
        (#"{"pins": ["a.pem", "sha1/AAAA"]}"#, "a pin begins with `sha1`; expected `sha256/`", "/pins/1"),
        (#"{"pins": ["a.pem", ""]}"#, "the pin is empty", "/pins/1"),
        (#"{"pins": ["a.pem", 1]}"#, "expected a string, found an integer", "/pins/1"),
        (#"{"pins": "a.pem"}"#, "expected an array, found a string", "/pins"),
        (#"{"pins": ["a.pem", "PIN-SHA256=AAAA"]}"#, "a pin begins with `PIN-SHA256`", "/pins/1"),
        (#"{"key": "a.key"}"#, "`key` needs `certificate`, which is missing", "/certificate"),
        (#"{"reportOnly": true}"#, "`reportOnly` needs `pins`, which is missing", "/pins"),
        (#"{"pins": ["a.pem", "b.pem"], "reportOnly": 1}"#, "expected a boolean, found an integer", "/reportOnly"),
        (#"{"pin": ["a.pem", "b.pem"]}"#, "unknown key `pin`; did you mean `pins`?", "/pin"),
    ])
    func `a mistake is an error, for editors, too, and lets nothing run`(
        settings: String, message: String, place: String
    ) throws {
        let document = read("a.test", settings)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error, "\(document.problems)")
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/network/tls/a.test" + place)
        #expect(document.manifest.managers.isEmpty)
        #expect(try !JSONSchema.ofManifests.accepts(text("a.test", settings)))
    }

    @Test(arguments: [
        #"["\#(hash)", "backup.pem"]"#, #"["${PIN}", "./sha256/a"]"#, #"["sha256", "pin-sha1/a"]"#,
    ])
    func `editors accept pins that are read`(pins: String) throws {
        let settings = #"{"pins": \#(pins), "reportOnly": true}"#
        #expect(read("*.a.test", settings).problems.isEmpty)
        #expect(try JSONSchema.ofManifests.accepts(text("*.a.test", settings)))
    }

    @Test func `there are at most a hundred pins`() throws {
        for (count, isSound) in [(100, true), (101, false)] {
            let pins = (0..<count).map { #""\#($0).pem""# }.joined(separator: ", ")
            let settings = #"{"pins": [\#(pins)]}"#
            #expect(read("a.test", settings).problems.isEmpty == isSound)
            #expect(try JSONSchema.ofManifests.accepts(text("a.test", settings)) == isSound)
        }
    }
}
