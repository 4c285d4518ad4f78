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

    private func read(_ host: String, _ settings: String) -> ManifestDocument {
        let text =
            #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": {"tls": {"\#(host)": \#(settings)}}}"#
        return ManifestDocument(parsing: Data(text.utf8)) { _ in "backup.pem" }
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
    func `a wildcard is a whole first label, before a name`(host: String) {
        #expect(read(host, "{}").problems.map(\.error.code) == [.manifestWrongType])
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
        (#"{"reportOnly": true}"#, "`reportOnly` needs `pins`, which is missing", "/pins"),
        (#"{"pins": ["a.pem", "b.pem"], "reportOnly": 1}"#, "expected a boolean, found an integer", "/reportOnly"),
        (#"{"pin": ["a.pem", "b.pem"]}"#, "unknown key `pin`; did you mean `pins`?", "/pin"),
    ])
    func `a mistake is an error, and lets nothing run`(settings: String, message: String, place: String) {
        let document = read("a.test", settings)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error, "\(document.problems)")
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/network/tls/a.test" + place)
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `the schema knows them`() throws {
        let path = Examples.folder.deletingLastPathComponent().appending(path: "docs/manifest.schema.json")
        let schema = JSONSchema(try ManifestValue(parsing: Data(contentsOf: path)))
        for (pins, isSound) in [
            (#"["\#(Self.hash)", "backup.pem"]"#, true), (#"["${PIN}", "./sha256/a"]"#, true),
            (#"["\#(Self.hash)"]"#, false), (#"["sha256/AAAA", "backup.pem"]"#, false), (#"["", "a.pem"]"#, false),
        ] {
            let text =
                #"{"manifestVersion": 1, "managers": {}, "network": {"tls": {"*.a.test": {"pins": \#(pins), "reportOnly": true}}}}"#
            #expect(try schema.violations(in: ManifestValue(parsing: Data(text.utf8))).isEmpty == isSound, "\(pins)")
        }
    }
}
