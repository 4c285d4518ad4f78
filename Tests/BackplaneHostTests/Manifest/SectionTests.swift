import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneScreens
import BackplaneStorage
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A manifest with a manager `M` and what is at a path of a section, such as `/network/cache`.
private func sectionText(_ path: String, _ value: String, _ more: String = "") -> String {
    let members = path.split(separator: "/").reversed().reduce(value) { #"{"\#($1)": \#($0)}"# }
    return #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, \#(members.dropFirst().dropLast())\#(more)}"#
}

private func read(
    _ path: String, _ value: String, _ more: String = "", environment: String? = nil, variable: String? = nil
) -> ManifestDocument {
    ManifestDocument(parsing: Data(sectionText(path, value, more).utf8), environment: environment) { name in
        name == "UNSET" ? nil : variable ?? "value of \(name)"
    }
}

/// Mistakes in the sections of a manifest: each is one error in its place, and lets nothing run, since a default in the
/// place of what was meant might do harm.
struct SectionMistakeTests {
    /// What is written, how the message begins, and where in the section it is.
    typealias Mistake = (written: String, message: String, place: String)

    private static let hash = "sha256/" + Data(repeating: 1, count: 32).base64EncodedString()
    private static let serverAddress =
        "expected a host in lower case and a port up to 65535, such as `127.0.0.1:8080` or `[::1]:8080`, found "

    private static let cache: [Mistake] = [
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

    ]

    private static let credentials: [Mistake] = [
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
        (
            #"{"a": {"type": "bearer", "hosts": ["a"], "secret": "x", "places": {"a": {"query": "q", "scheme": "s"}}}}"#,
            "expected a host, with or without a port, and either", "/a/places/a"
        ),
        (#"{"a": {"type": "basic", "hosts": ["a"], "password": "${UNSET}"}}"#, "the variable `UNSET`", "/a/password"),

    ]

    private static let limits: [Mistake] = [
        (#"{"a.test": {"concurrent": 0}}"#, "expected a number from 1 to 10000, found 0", "/a.test/concurrent"),
        (#"{"a.test": {"concurrent": -1}}"#, "expected a number from 1 to 10000, found -1", "/a.test/concurrent"),
        (#"{"a.test": {"concurrent": 1.5}}"#, "expected an integer", "/a.test/concurrent"),
        (#"{"a.test": {"perSecond": 0}}"#, "expected a number from 0.001 to 1000000, found 0", "/a.test/perSecond"),
        (#"{"a.test": {"perSecond": -0.5}}"#, "expected a number from 0.001 to 1000000", "/a.test/perSecond"),
        (#"{"a.test": {"perSecond": "10"}}"#, "expected a number, found a string", "/a.test/perSecond"),
        (#"{"a.test": {"concurrent": 1, "burst": 2}}"#, "`burst` needs `perSecond`", "/a.test/burst"),
        (#"{"a.test": {"waiting": 2}}"#, "`waiting` needs `concurrent` or `perSecond`", "/a.test/waiting"),
        (
            #"{"a.test": {"concurrent": 1, "waiting": -1}}"#, "expected a number from 0 to 10000, found -1",
            "/a.test/waiting"
        ),
        (#"{"a.test": {"body": 0}}"#, "expected a number of bytes from 1 to 1099511627776, found 0", "/a.test/body"),
        (#"{"a.test": {"concurent": 4}}"#, "unknown key `concurent`; did you mean `concurrent`?", "/a.test/concurent"),
        (#"{"a.test": {"breaker": 5}}"#, "expected a dictionary, found an integer", "/a.test/breaker"),
        (
            #"{"a.test": {"breaker": {"failures": 0}}}"#, "expected a number from 1 to 1000000, found 0",
            "/a.test/breaker/failures"
        ),
        (
            #"{"a.test": {"breaker": {"openFor": 0}}}"#, "expected a number of seconds from 0.001 to 86400",
            "/a.test/breaker/openFor"
        ),
        (#"{"a.test": {"breaker": {"open": 3}}}"#, "unknown key `open`", "/a.test/breaker/open"),
        (#"{"a.test": []}"#, "expected a dictionary, found an array", "/a.test"),
        (#"{"A.test": {}}"#, "expected the name of a host", "/A.test"),
        (#"{"*.test": {}}"#, "expected the name of a host", "/*.test"),
        (#"{"a.test:0": {}}"#, "expected the name of a host", "/a.test:0"),
        (#"{"a.test:+80": {}}"#, "expected the name of a host", "/a.test:+80"),
        (#"{"https://a.test": {}}"#, "expected the name of a host", "/https:~1~1a.test"),
        ("[]", "expected a dictionary, found an array", ""),

    ]

    private static let pins: [Mistake] = [
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

    ]

    private static let network: [Mistake] = [
        (#"{"executors": {"Archive": "M"}}"#, "expected a URL scheme", "/executors/Archive"),
        (#"{"executors": {"a": 1}}"#, "expected a string, found an integer", "/executors/a"),
        (#"{"interceptors": "F"}"#, "expected an array, found a string", "/interceptors"),
        (#"{"interceptors": [""]}"#, "expected a name of 1 to 4096 bytes, found 0 bytes", "/interceptors/0"),
        (#"{"interceptors": [{"hosts": ["a.test"]}]}"#, "`manager` is missing", "/interceptors/0/manager"),
        (#"{"interceptors": [{"manager": "F", "hosts": []}]}"#, "`hosts` is empty", "/interceptors/0/hosts"),
        (
            #"{"interceptors": [{"manager": "F", "hosts": ["http://a.test"]}]}"#, "expected the name of a host",
            "/interceptors/0/hosts/0"
        ),
        (
            #"{"interceptors": [{"manager": "F", "host": ["a.test"]}]}"#, "unknown key `host`; did you mean `hosts`?",
            "/interceptors/0/host"
        ),
        (#"{"executors": []}"#, "expected a dictionary, found an array", "/executors"),
        (
            #"{"tls": {"a.test": {"root": "ca.pem"}}}"#, "unknown key `root`; did you mean `roots`?",
            "/tls/a.test/root"
        ),
        (#"{"tls": {"https://a.test": {}}}"#, "expected a host's name", "/tls/https:~1~1a.test"),
        (#"{"tls": {"a.test:443": {}}}"#, "expected a host's name", "/tls/a.test:443"),
        (
            #"{"tls": {"a.test": {"minimum": "1.1"}}}"#, "expected `1.2` or `1.3`, found `1.1`",
            "/tls/a.test/minimum"
        ),

    ]

    private static let traced: [Mistake] = [
        (#"{"traced": "a"}"#, "expected an array, found a string", "/traced"),
        (#"{"traced": ["a", 1]}"#, "expected a string, found an integer", "/traced/1"),
        (
            #"{"traced": ["https://a.example.org"]}"#,
            "expected the name of a host in lower case, without scheme and port, such as `books.example.org`, found `https://a.example.org`",
            "/traced/0"
        ),
        (
            #"{"traced": ["${X}"]}"#,
            "expected the name of a host in lower case, without scheme and port, such as `books.example.org`, found `${X}`",
            "/traced/0"
        ),

    ]

    private static let store: [Mistake] = [
        (#"{"damaged": "repair"}"#, "expected `move-aside` or `refuse`, found `repair`", "/damaged"),
        (#"{"damaged": 1}"#, "expected a string, found an integer", "/damaged"),
        (#"{"damaged": "${X}"}"#, "expected `move-aside` or `refuse`, found `${X}`", "/damaged"),
        ("[]", "expected a dictionary, found an array", ""),

    ]

    private static let swap: [Mistake] = [
        (#"{"drain": "1"}"#, "expected a number of seconds, found a string", "/drain"),
        (#"{"drain": 0}"#, "expected a number of seconds from 0.001 to 86400, found 0.0", "/drain"),
        (#"{"longCalls": "never"}"#, "expected `later` or `cancel` or `fail`, found `never`", "/longCalls"),
        (#"{"retries": 0}"#, "expected a number from 1 to 1000000, found 0", "/retries"),
        (
            #"{"longCalls": "fail", "retryFor": 1}"#, #"`retryFor` needs `"longCalls": "later"`"#, "/retryFor"
        ),

    ]

    private static let screens: [Mistake] = [
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

    ]

    private static let server: [Mistake] = [
        ("[]", "expected a dictionary, found an array", ""),
        (#"{"listen": 8080}"#, "expected a string, found an integer", "/listen"),
        (#"{"listen": ":8080"}"#, serverAddress + "`:8080`", "/listen"),
        (#"{"listen": "8080"}"#, serverAddress + "`8080`", "/listen"),
        (#"{"listen": "::1:8080"}"#, serverAddress + "`::1:8080`", "/listen"),
        (#"{"listen": "http://localhost:80"}"#, serverAddress + "`http://localhost:80`", "/listen"),
        (#"{"listen": "localhost:08"}"#, serverAddress + "`localhost:08`", "/listen"),
        (#"{"mount": {"M": "api"}}"#, "`api` is not a path: expected a pattern that begins with `/`", "/mount/M"),
        (#"{"mount": {"M": "/api/"}}"#, "`/api/` is not a path: a pattern has no empty segments", "/mount/M"),
        (#"{"health": "/a?b"}"#, "`/a?b` is not a path: no path has the segment `a?b`", "/health"),
        (#"{"health": "/:x"}"#, "`/:x` is not a path: it has the parameter `x`", "/health"),
        (#"{"limits": {"concurrent": 0}}"#, "expected a number from 1 to 100000, found 0", "/limits/concurrent"),
        (#"{"limits": {"size": 1}}"#, "unknown key `size`", "/limits/size"),
        (#"{"tls": {"certificate": "a.pem"}}"#, "`key` is missing", "/tls/key"),

    ]

    private static let all: [(path: String, isForEditors: Bool, mistake: Mistake)] =
        ([
            ("/network/cache", true, cache),
            ("/network/credentials", false, credentials),
            ("/network/limits", true, limits),
            ("/network/tls/a.test", true, pins),
            ("/network", false, network),
            ("/network", false, traced),
            ("/store", false, store),
            ("/swap", false, swap),
            ("/screens", true, screens),
            ("/server", true, server),
        ] as [(String, Bool, [Mistake])]).flatMap { path, isForEditors, mistakes in
            mistakes.map { (path, isForEditors, $0) }
        }

    @Test(arguments: all.indices)
    func `a mistake is an error, for most editors, too, and lets nothing run`(index: Int) throws {
        let (path, isForEditors, mistake) = Self.all[index]
        let document = read(path, mistake.written, variable: "a secret:80"), written = "\(path): \(mistake.written)"
        #expect(document.problems.first?.severity == .error, "\(written)")
        if !["/screens", "/server"].contains(path) {
            #expect(document.problems.count == 1 && document.manifest.managers.isEmpty, "\(written)")
        }
        #expect(document.problems.first?.error.message.hasPrefix(mistake.message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == path + mistake.place, "\(written)")
        if isForEditors {
            #expect(try !JSONSchema.ofManifests.accepts(sectionText(path, mistake.written)), "\(written)")
        }
    }

    @Test(arguments: [
        ("/network/credentials", ManifestLimits.credentials, #"{"type": "basic", "hosts": ["a"]}"#),
        ("/network/limits", ManifestLimits.hosts, "{}"),
    ])
    func `there are at most so many members`(path: String, most: Int, member: String) {
        let members = (0...most).map { #""h\#($0)": \#(member)"# }.joined(separator: ", ")
        #expect(read(path, "{\(members)}").problems.map(\.severity) == [.error])
    }

    @Test(arguments: [
        ("/network", "interceptors", ManifestLimits.interceptors, "M"), ("/network/tls/a.test", "pins", 100, "pem"),
        ("/screens", "tabs", 20, "a"),
    ])
    func `a list has at most so many elements`(path: String, key: String, most: Int, element: String) throws {
        for (count, isSound) in [(most, true), (most + 1, false)] {
            let list = (0..<count).map { #""\#(element)\#($0)""# }.joined(separator: ", ")
            let value = #"{"\#(key)": [\#(list)]}"#
            #expect(read(path, value).problems.isEmpty == isSound, "\(count) \(key)")
            if key != "interceptors" {
                #expect(try JSONSchema.ofManifests.accepts(sectionText(path, value)) == isSound, "\(count) \(key)")
            }
        }
    }

    @Test func `a message shows no secret, also where a variable is in the wrong place`() {
        for text in [
            #"{"a": {"type": "${PLANTED}", "hosts": ["a"]}}"#, #"{"a": {"type": "basic", "hosts": ["${PLANTED}"]}}"#,
            #"{"a": {"type": "bearer", "hosts": ["a"], "signIn": {"url": "${PLANTED}"}, "token": "${PLANTED}"}}"#,
            #"{"a": {"type": "basic", "hosts": ["a"], "user": "${PLANTED}:"}}"#,
        ] {
            let document = read("/network/credentials", text)
            #expect(!document.problems.isEmpty)
            #expect(!"\(document.problems)".contains("value of PLANTED"), "\(document.problems)")
        }
    }
}

/// The sections of a manifest beside its plugins, managers and network: read, and laid over by environments.
struct SectionTests {
    @Test func `the treatment of a damaged store is read and defaulted`() throws {
        let document = read("/store", #"{"damaged": "refuse"}"#)
        #expect(document.problems.isEmpty && document.manifest.store.damaged == .refuse)
        for text in ["{}", #"{"damaged": "move-aside"}"#] {
            let document = read("/store", text)
            #expect(document.problems.isEmpty && document.manifest.store.damaged == .moveAside)
        }
    }

    @Test func `an environment changes a section, and a variable stands for its text`() {
        let more = #", "environments": {"lax": {"store": {"damaged": null}}}"#,
            text = #"{"damaged": "${UNSET:-refuse}"}"#
        #expect(read("/store", text, more).manifest.store.damaged == .refuse)
        #expect(
            read("/store", #"{"damaged": "${POLICY}"}"#, more, variable: "move-aside").manifest.store.damaged
                == .moveAside)
        let lax = read("/store", text, more, environment: "lax")
        #expect(lax.problems.isEmpty && lax.manifest.store.damaged == .moveAside)
    }

    @Test func `a key that nobody knows is a warning with a suggestion`() {
        let document = read("/store", #"{"damagd": "refuse"}"#, #", "stor": {}"#)
        #expect(document.problems.map(\.severity) == [.warning, .warning])
        #expect(document.problems.map(\.error.location) == ["/stor", "/store/damagd"])
        #expect(document.problems[0].error.message.contains("did you mean `store`?"))
        #expect(document.problems[1].error.message.contains("did you mean `damaged`?"))
        #expect(document.manifest.managers.count == 1)
    }

    @Test func `a mistake in an environment that is not chosen is a warning`() {
        let document = read("/store", "{}", #", "environments": {"strict": {"store": {"damaged": "no"}}}"#)
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
            (#"{"drain": 0.05, "longCalls": "${UNSET:-fail}"}"#, .upTo(.milliseconds(50), then: .fail)),
            (
                #"{"retries": 3, "retryFor": 60}"#,
                .upTo(.milliseconds(200), then: .retry(attempts: 3, within: .seconds(60)))
            ),
        ] {
            let document = read("/swap", section)
            #expect(document.problems.isEmpty, "\(document.problems)")
            #expect(document.manifest.swap.drain == drain)
        }
    }

    @Test func `only what differs in effect is a change`() {
        let old = StoreSettings()
        #expect(old.changes(to: StoreSettings(damaged: .refuse)) == ["/store/damaged"])
        #expect(old.changes(to: read("/store", #"{"damaged": "move-aside"}"#).manifest.store) == [])
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
    func `screens are read`(text: String, settings: ScreenSettings) throws {
        let document = read("/screens", text, variable: "x.y")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.screens == settings)
        #expect(try JSONSchema.ofManifests.accepts(sectionText("/screens", text)))
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
    func `a server is read`(text: String, settings: ServerSettings) throws {
        let document = read("/server", text, variable: "8081")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.server == settings)
        #expect(try JSONSchema.ofManifests.accepts(sectionText("/server", text)))
    }

    @Test func `an environment changes the server, or takes it away`() {
        let environments =
            #", "environments": {"test": {"server": {"listen": "127.0.0.1:0"}}, "none": {"server": null}}"#
        let test = read("/server", #"{"health": "/up"}"#, environments, environment: "test")
        #expect(test.manifest.server == ServerSettings(listen: "127.0.0.1:0", health: "/up"))
        #expect(read("/server", "{}", environments, environment: "none").manifest.server == nil)
    }
}

/// The `network` of a manifest: read, and laid over by environments.
struct NetworkSectionTests {
    @Test(arguments: [
        ("{}", CacheSettings()), (#"{"memory": 0, "disk": 0}"#, CacheSettings(memory: 0, disk: 0)),
        (#"{"memory": 1048576, "provider": "${NAME}"}"#, CacheSettings(memory: 1 << 20, provider: "Expanded")),
    ])
    func `limits and the provider of the cache are read`(text: String, settings: CacheSettings) {
        let document = read("/network/cache", text, variable: "Expanded")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.cache == settings)
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

    private static let bearer = #"""
        {"type": "bearer", "hosts": ["books.test", "127.0.0.1:8080", "[::1]:80"], "managers": ["M"],
         "signIn": {"url": "https://books.test/sessions?x=1", "headers": {"X-Key": "${KEY}"},
                    "json": {"reader": "${READER}", "password": {"value": "password"}, "scopes": ["a", 1, null, {"b": true}]}},
         "refresh": {"method": "PUT", "url": "http://books.test/refresh", "form": {"with": {"value": "refreshToken"}}},
         "token": "/token", "expires": "/expires", "refreshToken": "/refresh", "keep": true}
        """#

    @Test func `every scheme of credentials is read`() throws {
        let written = """
            {"a": {"type": "basic", "hosts": ["a.test"], "user": "ann", "password": "${PW}", "preemptive": false},
             "b": {"type": "digest", "hosts": ["a.test"], "cookies": true}, "c": \(Self.bearer),
             "d": {"type": "bearer", "hosts": ["a.test"], "secret": "${TOKEN}"},
             "f": {"type": "bearer", "hosts": ["a.test", "b.test:80"], "token": "/t",
                   "signIn": {"url": "http://a.test/", "token": "/own"},
                   "places": {"a.test": {"query": "auth"}, "b.test:80": {"scheme": "Key"}}},
             "e": {"type": "component", "hosts": ["a.test"], "manager": "M", "values": {"key": "${KEY}"}}}
            """
        let document = read("/network/credentials", written)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            try JSONSchema.ofManifests.violations(
                in: ManifestValue(parsing: Data(sectionText("/network/credentials", written).utf8))) == [])
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
        var own = TokenRequest("http://a.test/")
        own.token = "/own"
        var placed = TokenSource(signIn: own, token: "/t")
        placed.places = ["a.test": .query("auth"), "b.test:80": .scheme("Key")]
        #expect(credentials["f"]?.scheme == .bearer(placed))
    }

    @Test func `limits are read by host`() throws {
        let limits = #"""
            {"books.test": {"concurrent": 4, "perSecond": 0.5, "burst": 20, "waiting": 0, "body": 1000,
              "breaker": {"failures": 3, "openFor": 7.5, "probes": 2}},
            "[::1]:8080": {}, "*": {"breaker": {}}}
            """#
        let document = read("/network/limits", limits)
        #expect(try JSONSchema.ofManifests.accepts(sectionText("/network/limits", limits)))
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            document.manifest.network.limits == [
                "books.test": HostLimits(
                    concurrent: 4, perSecond: 0.5, burst: 20, waiting: 0,
                    breaker: HostLimits.Breaker(failures: 3, openFor: .seconds(7.5), probes: 2),
                    maximumBodySize: 1_000),
                "[::1]:8080": HostLimits(), "*": HostLimits(breaker: HostLimits.Breaker()),
            ])
        #expect(read("/network/limits", "{}").manifest.network == NetworkSettings())
    }

    @Test func `executors and settings of TLS are read`() throws {
        let document = read(
            "/network",
            #"{"executors": {"archive": "M", "x+y": "N"}, "tls": {"books.test": {"roots": "${CA}", "minimum": "1.3"}, "[::1]": {}}}"#,
            variable: "ca.pem")
        #expect(document.problems.isEmpty, "\(document.problems)")
        let network = document.manifest.network
        #expect(network.executors == ["archive": "M", "x+y": "N"])
        #expect(
            network.tls == ["books.test": TLSSettings(roots: "ca.pem", minimum: .tls13), "[::1]": TLSSettings()])
        #expect(read("/network", "{}").manifest.network == NetworkSettings())
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
            #expect(read("/network", network).problems.isEmpty == isOne, "\(network)")
        }
    }

    @Test func `interceptors are read in their order`() throws {
        let text = #"{"interceptors": ["A", {"manager": "${CA}", "hosts": ["${CA}", "127.0.0.1"]}, "A"]}"#
        let document = read("/network", text, variable: "ca.pem")
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            document.manifest.network.interceptors == [
                NetworkInterceptor("A"), NetworkInterceptor("ca.pem", hosts: ["ca.pem", "127.0.0.1"]),
                NetworkInterceptor("A"),
            ])
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

    @Test func `the hosts that traces are sent to are read and defaulted`() throws {
        let document = read("/network", #"{"traced": ["${UNSET:-books.example.org}", "127.0.0.1"]}"#)
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(document.manifest.network.traced == ["books.example.org", "127.0.0.1"])
        let quiet = read(
            "/network", #"{"traced": ["a"]}"#, #", "environments": {"quiet": {"network": null}}"#, environment: "quiet")
        #expect(quiet.problems.isEmpty && quiet.manifest.network.traced == [])
    }

    private static let hash = "sha256/" + Data(repeating: 1, count: 32).base64EncodedString()

    @Test func `hashes and files are read, and who is only told of a mismatch`() {
        let settings = #"{"pins": ["\#(Self.hash)", "${BACKUP}"], "reportOnly": true}"#
        for host in ["books.test", "*.books.test"] {
            let document = read("/network/tls/\(host)", settings, variable: "backup.pem")
            #expect(document.problems.isEmpty, "\(document.problems)")
            let pins = [CertificatePin.key(sha256: Array(repeating: 1, count: 32)), .file("backup.pem")]
            #expect(document.manifest.network.tls == [host: TLSSettings(pins: pins, reportsOnly: true)])
        }
        #expect(read("/network/tls/books.test", "{}").manifest.network.tls["books.test"]?.pins == [])
    }

    @Test(arguments: ["*", "*.", "a.*.test", "**.test", "*a.test", "*.*.test", "*.127.0.0.1", "*.[::1]", "*.Test"])
    func `a wildcard is a whole first label, before a name`(host: String) throws {
        #expect(read("/network/tls/\(host)", "{}").problems.map(\.error.code) == [.manifestWrongType])
        #expect(try !JSONSchema.ofManifests.accepts(sectionText("/network/tls/\(host)", "{}")))
    }

    @Test(arguments: [
        #"["\#(hash)", "backup.pem"]"#, #"["${PIN}", "./sha256/a"]"#, #"["sha256", "pin-sha1/a"]"#,
    ])
    func `editors accept pins that are read`(pins: String) throws {
        let settings = #"{"pins": \#(pins), "reportOnly": true}"#
        #expect(read("/network/tls/*.a.test", settings, variable: "backup.pem").problems.isEmpty)
        #expect(try JSONSchema.ofManifests.accepts(sectionText("/network/tls/*.a.test", settings)))
    }
}
