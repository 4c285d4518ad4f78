import ArgumentParser
import TestFixtures
import Testing

@testable import BackplaneCommand

@Suite(.timeLimit(.minutes(2)))
struct HelpTests {
    private static let verbs: [[String]] =
        [[]]
        + [
            "run", "dev", "call", "check", "graph", "explain", "services", "names", "convert", "inspect", "validate",
            "new", "demo", "request", "transfer", "swap", "rollback", "generations", "stats", "events", "log-level",
            "apply", "reset", "operations", "store", "credentials",
        ].map { [$0] }
        + ["package", "app", "plugin", "contracts", "manager", "definition"].map { ["new", $0] }
        + ["list", "get", "dump", "restore", "check", "migrate"].map { ["store", $0] }
        + ["list", "sign-in", "sign-out"].map { ["credentials", $0] }
        + ["get", "put"].map { ["transfer", $0] }
        + ["list", "show", "watch", "pause", "resume", "cancel"].map { ["operations", $0] }

    @Test(arguments: verbs)
    func `every verb explains itself`(verb: [String]) throws {
        let request = #expect(throws: (any Error).self) { _ = try BackplaneTool.parseAsRoot(verb + ["--help"]) }
        let help = BackplaneTool.fullMessage(for: try #require(request), columns: 80)
        try expectSnapshot(help + "\n", verb.isEmpty ? "backplane" : verb.joined(separator: "-"))
    }

    @Test func `help and the version are printed, with the engines, and end well`() async throws {
        for arguments in [[], ["--help"]] {
            let outcome = try await Tool().start(arguments).end()
            #expect(outcome.status == 0 && outcome.errors == "" && outcome.output.contains("call"))
        }
        let outcome = try await Tool().plain("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /\d+\.\d+\.\d+ \(HTTP: AsyncHTTPClient; store: SQLite\)\n/) != nil)
    }

    @Test(arguments: [
        ["check", Tool.almanac, "--fast"], ["check", Tool.almanac, "--log-level", "loud"],
        ["call", Tool.almanac, "ClockManager", "now", "null", "more"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "soon"], ["check", Tool.almanac, "--data"],
        ["graph", Tool.almanac, "--format", "svg"], ["explain", Tool.almanac, "ClockManager", "more"],
        ["services", Tool.almanac, "--format", "dot"], ["names", Tool.almanac, "more"],
        ["dev", Tool.almanac, "--configuration", "fast"], ["convert", Tool.almanac, "--to", "yaml"],
        ["swap"], ["swap", "Clock", "--probation", "0"], ["swap", "Clock", "--error-rate", "0.1"],
        ["swap", "Clock", "--timeout", "never"], ["swap", "Clock", "--socket", "a", "--manifest", "b"],
        ["rollback"], ["rollback", "a", "--to", "first"], ["generations", "a", "b"], ["stats", "a"],
        ["store", "get", "a", "b"], ["store", "restore"], ["apply", "a", "b"], ["reset", "a", "b"],
        ["log-level", "loud"], ["log-level", "=debug"], ["check", Tool.almanac, "--manifest", Tool.almanac],
        ["run", Tool.almanac, "--log-format", "xml"], ["run", Tool.almanac, "--log-level", "org.a=loud"],
        ["inspect"], ["inspect", "Clock", "--timeout", "0"], ["validate"], ["validate", "Clock", "--timeout", "soon"],
        ["new", "zebra"], ["new", "package"], ["new", "app", "Tides", "more"], ["new", "manager", "Tides", "--fast"],
    ])
    func `arguments that it does not understand are misuse`(arguments: [String]) throws {
        let error = #expect(throws: (any Error).self) { _ = try BackplaneTool.parseAsRoot(arguments) }
        #expect(BackplaneTool.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test(arguments: [
        ["fly"], ["call"], ["call", Tool.almanac, "ClockManager", "now", "--json"],
        ["explain", "A", "--running", "--environment", ""], ["services", "--running", "--plugin-path", "."],
        ["new", "plugin", "a/B"],
    ])
    func `misuse is exit code 64, and nothing on standard output`(arguments: [String]) async throws {
        let outcome = try await Tool().start(arguments).end()
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.output == "" && outcome.errors != "")
    }
}
