import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The `credentials` of a manifest's `network`: read, laid over by environments, and refused.
struct CredentialSectionTests {
    private func text(_ credentials: String, _ more: String = "") -> Data {
        Data(
            #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": {"credentials": \#(credentials)}\#(more)}"#
                .utf8)
    }

    private func read(_ credentials: String, _ more: String = "", environment: String? = nil) -> ManifestDocument {
        ManifestDocument(parsing: text(credentials, more), environment: environment) { name in
            name == "UNSET" ? nil : "value of \(name)"
        }
    }

    private static let bearer = #"""
        {"type": "bearer", "hosts": ["books.test", "127.0.0.1:8080", "[::1]:80"], "managers": ["M"],
         "signIn": {"url": "https://books.test/sessions?x=1", "headers": {"X-Key": "${KEY}"},
                    "json": {"reader": "${READER}", "password": {"value": "password"}, "scopes": ["a", 1, null, {"b": true}]}},
         "refresh": {"method": "PUT", "url": "http://books.test/refresh", "form": {"with": {"value": "refreshToken"}}},
         "token": "/token", "expires": "/expires", "refreshToken": "/refresh", "keep": true}
        """#

    @Test func `every scheme is read`() throws {
        let written = """
            {"a": {"type": "basic", "hosts": ["a.test"], "user": "ann", "password": "${PW}", "preemptive": false},
             "b": {"type": "digest", "hosts": ["a.test"], "cookies": true}, "c": \(Self.bearer),
             "d": {"type": "bearer", "hosts": ["a.test"], "secret": "${TOKEN}"},
             "e": {"type": "component", "hosts": ["a.test"], "manager": "M", "values": {"key": "${KEY}"}}}
            """
        let document = read(written)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(try JSONSchema.ofManifests.violations(in: ManifestValue(parsing: text(written))) == [])
        let credentials = document.manifest.network.credentials
        #expect(
            credentials["a"]
                == Credential(
                    hosts: ["a.test"], .basic(Login(user: "ann", password: "value of PW"), isPreemptive: false)))
        #expect(credentials["b"] == Credential(hosts: ["a.test"], .digest(Login()), hasCookies: true))
        let signIn = TokenRequest(
            "https://books.test/sessions?x=1",
            .json([
                "reader": "value of READER", "password": .value("password"),
                "scopes": .array(["a", .literal(.integer(1)), .literal(.null), .object(["b": .literal(.bool(true))])]),
            ]), headers: ["X-Key": "value of KEY"])
        let refresh = TokenRequest(
            "http://books.test/refresh", .form(["with": .value("refreshToken")]), method: "PUT")
        #expect(
            credentials["c"]
                == Credential(
                    hosts: ["books.test", "127.0.0.1:8080", "[::1]:80"],
                    .bearer(
                        TokenSource(
                            signIn: signIn, refresh: refresh, token: "/token", expires: "/expires",
                            refreshToken: "/refresh", isKept: true)), managers: ["M"]))
        #expect(credentials["d"] == Credential(hosts: ["a.test"], .bearer(TokenSource(secret: "value of TOKEN"))))
        #expect(credentials["e"]?.scheme == .component("M", values: ["key": "value of KEY"]))
    }

    @Test func `an environment changes them`() {
        let document = read(
            #"{"a": {"type": "basic", "hosts": ["a.test"], "user": "ann"}, "b": {"type": "digest", "hosts": ["b.test"]}}"#,
            #", "environments": {"test": {"network": {"credentials": {"a": {"hosts": ["localhost"]}, "b": null}}}}"#,
            environment: "test")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            document.manifest.network.credentials
                == ["a": Credential(hosts: ["localhost"], .basic(Login(user: "ann")))])
    }

    @Test(arguments: [
        (#"[]"#, "expected a dictionary", ""), (#"{"a": 1}"#, "expected a dictionary", "/a"),
        (#"{"": {"type": "basic", "hosts": ["a"]}}"#, "a credential needs a name", "/"),
        (#"{"a": {"hosts": ["a"]}}"#, "`type` is missing", "/a/type"),
        (
            #"{"a": {"type": "ntlm", "hosts": ["a"]}}"#,
            "expected `basic` or `digest` or `bearer` or `component`, found `ntlm`",
            "/a/type"
        ),
        (#"{"a": {"type": "basic"}}"#, "`hosts` is missing or empty", "/a/hosts"),
        (#"{"a": {"type": "basic", "hosts": ["https://a.test"]}}"#, "expected a host's name", "/a/hosts/0"),
        (#"{"a": {"type": "basic", "hosts": ["*.test"]}}"#, "expected a host's name", "/a/hosts/0"),
        (#"{"a": {"type": "basic", "hosts": ["a:0"]}}"#, "expected a host's name", "/a/hosts/0"),
        (#"{"a": {"type": "basic", "hosts": ["a"], "user": "a:b"}}"#, "the name of a user must not", "/a/user"),
        (#"{"a": {"type": "basic", "hosts": ["a"], "password": "a\nb"}}"#, "expected a string of at", "/a/password"),
        (#"{"a": {"type": "bearer", "hosts": ["a"]}}"#, "expected one of `signIn` and `secret`, found neither", "/a"),
        (#"{"a": {"type": "bearer", "hosts": ["a"], "secret": "x", "signIn": {}}}"#, "expected one of", "/a"),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "secret": "x", "keep": true}}"#, "`keep` needs `signIn`",
            "/a/keep"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "http://a/"}}}"#, "`token` is missing",
            "/a/token"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "http://a/"}, "token": "token"}}"#,
            "expected a JSON pointer", "/a/token"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "file:planted"}, "token": "/t"}}"#,
            "expected an `http:` or `https:` URL", "/a/signIn/url"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "http://a/", "jsn": {}}, "token": "/t"}}"#,
            "unknown key `jsn`; did you mean `json`?", "/a/signIn/jsn"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "http://a/", "json": {}, "form": {}}, "token": "/t"}}"#,
            "expected one of `json` and `form`", "/a/signIn"
        ),
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "http://a/"}, "token": "/t", "refresh": {"url": "http://a/", "json": {"x": {"value": "password"}}}}}"#,
            "a refresh has the values `token` and `refreshToken`, not `password`", "/a/refresh"
        ),
        (#"{"a": {"type": "basic", "hosts": ["a"], "password": "${UNSET}"}}"#, "the variable `UNSET`", "/a/password"),
    ])
    func `a mistake is an error, and lets nothing run`(credentials: String, message: String, place: String) {
        let document = read(credentials)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error, "\(document.problems)")
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/network/credentials" + place)
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `a message shows no secret, also where a variable is in the wrong place`() {
        for text in [
            #"{"a": {"type": "${PLANTED}", "hosts": ["a"]}}"#, #"{"a": {"type": "basic", "hosts": ["${PLANTED}"]}}"#,
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "${PLANTED}"}, "token": "${PLANTED}"}}"#,
            #"{"a": {"type": "basic", "hosts": ["a"], "user": "${PLANTED}:"}}"#,
        ] {
            let document = read(text)
            #expect(!document.problems.isEmpty)
            #expect(!"\(document.problems)".contains("value of PLANTED"), "\(document.problems)")
        }
    }

    @Test func `too many credentials are one error`() {
        let many = (0...ManifestLimits.credentials).map { #""c\#($0)": {"type": "basic", "hosts": ["a"]}"# }
        let problems = read("{\(many.joined(separator: ", "))}").problems
        #expect(problems.map(\.error.code) == [.manifestUnsupported])
    }
}
