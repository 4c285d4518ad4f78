import Backplane
import BackplaneTestKit
import CBackplane
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// A manager in C that asks for what its role may not have, under its own handle and under others.
@Suite(.timeLimit(.minutes(5)))
struct RoleTests {
    private struct Told: Decodable, Equatable {
        var status: Int32
        var text: String
    }

    private func withTrespasser(_ body: (TestHost) async throws -> Void) async throws {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "Hostile"}], "managers": {"Trespasser": {"className": "Trespasser"}}}"#,
            pluginPaths: [BuiltProducts.folder])
        try await body(test)
        await test.host.stop()
    }

    private func ask(_ service: String, as asker: String, _ test: TestHost) async throws -> Told {
        try JSONDecoder().decode(Told.self, from: Data(try await test.call("Trespasser", service, "\"\(asker)\"").utf8))
    }

    @Test(arguments: ["http", "write", "query"])
    func `what its role may not do is forbidden, by a status and a reason in plain text`(service: String) async throws {
        try await withTrespasser { test in
            let told = try await ask(service, as: "itself", test)
            #expect(told.status == BP_FORBIDDEN)
            let reason =
                service == "http"
                ? "only communication controllers and network services can use backplane.http"
                : "only data access controllers can use backplane.store"
            #expect(told.text == "Trespasser is a manager; \(reason)")
        }
    }

    @Test(arguments: ["http", "write", "query", "call"], ["nobody", "a stranger"])
    func `an unknown handle opens nothing`(service: String, asker: String) async throws {
        try await withTrespasser { test in
            let told = try await ask(service, as: asker, test)
            #expect(told.status == BP_FORBIDDEN)
            #expect(
                told.text.hasPrefix("no component has the handle ")
                    && told.text.hasSuffix("; pass the one from bp_creation"))
        }
    }

    @Test func `only components can write to the log`() async throws {
        try await withTrespasser { test in
            for (asker, isHeard) in [("nobody", "false"), ("a stranger", "false"), ("itself", "true")] {
                let answer = try await test.call("Trespasser", "log", "\"\(asker)\"")
                #expect(answer == isHeard, "\(asker)")
            }
            #expect(test.log.lines == ["Trespasser a trespasser was here"], "one line, of the one that is a component")
        }
    }

    @Test func `a wire that it was not given is unknown`() async throws {
        try await withTrespasser { test in
            let told = try await ask("call", as: "itself", test)
            #expect(told.status == BP_ERROR, "a code that no status stands for")
            #expect(told.text.contains("wire.unknown"))
        }
    }
}
