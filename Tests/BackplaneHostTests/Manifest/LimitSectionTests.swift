import Backplane
import BackplaneDocuments
import BackplaneExchange
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The `limits` of a manifest's network.
struct LimitSectionTests {
    private func text(_ limits: String) -> String {
        #"{"manifestVersion": 1, "managers": {"M": {"className": "M"}}, "network": {"limits": \#(limits)}}"#
    }

    private func read(_ limits: String) -> ManifestDocument { ManifestDocument(parsing: Data(text(limits).utf8)) }

    @Test func `limits are read by host`() throws {
        let limits = #"""
            {"books.test": {"concurrent": 4, "perSecond": 0.5, "burst": 20, "waiting": 0, "body": 1000,
              "breaker": {"failures": 3, "openFor": 7.5, "probes": 2}},
            "[::1]:8080": {}, "*": {"breaker": {}}}
            """#
        let document = read(limits)
        #expect(try JSONSchema.ofManifests.accepts(text(limits)))
        #expect(document.problems.isEmpty, "\(document.problems)")
        #expect(
            document.manifest.network.limits == [
                "books.test": HostLimits(
                    concurrent: 4, perSecond: 0.5, burst: 20, waiting: 0,
                    breaker: HostLimits.Breaker(failures: 3, openFor: .seconds(7.5), probes: 2),
                    maximumBodySize: 1_000),
                "[::1]:8080": HostLimits(), "*": HostLimits(breaker: HostLimits.Breaker()),
            ])
        #expect(read("{}").manifest.network == NetworkSettings())
    }

    @Test(arguments: [
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
    ])
    func `a mistake is an error, for editors, too, and lets nothing run`(
        limits: String, message: String, place: String
    ) throws {
        let document = read(limits)
        #expect(document.problems.count == 1 && document.problems.first?.severity == .error, "\(document.problems)")
        #expect(document.problems.first?.error.message.hasPrefix(message) == true, "\(document.problems)")
        #expect(document.problems.first?.error.location == "/network/limits" + place)
        #expect(document.manifest.managers.isEmpty)
        #expect(try !JSONSchema.ofManifests.accepts(text(limits)))
    }

    @Test func `there are at most a thousand hosts`() {
        let hosts = (0...ManifestLimits.hosts).map { #""h\#($0)": {}"# }.joined(separator: ", ")
        #expect(read("{\(hosts)}").problems.map(\.error.message) == ["expected at most 1000 limits, found 1001"])
    }
}
