import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)))
struct HelpTests {
    private static let commands = [
        "run", "dev", "call", "check", "graph", "explain", "services", "names", "convert", "inspect", "validate", "new",
        "demo", "request", "transfer", "swap", "rollback", "generations", "stats", "events", "log-level",
        "apply",
        "reset", "operations", "store", "credentials",
    ]

    @Test(arguments: [["--help"]] + commands.map { [$0, "--help"] })
    func `every command explains itself`(arguments: [String]) async throws {
        let outcome = try await Tool().start(arguments).end()
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        try expectSnapshot(outcome.output, arguments.dropLast().first ?? "backplane")
    }

    @Test(arguments: ["package", "app", "plugin", "contracts", "manager", "definition"])
    func `so does everything that new makes`(kind: String) async throws {
        let outcome = try await Tool().plain("new", kind, "--help")
        #expect(outcome.status == 0)
        try expectSnapshot(outcome.output, "new-\(kind)")
    }

    @Test(arguments: ["list", "get", "dump", "restore", "check", "migrate"])
    func `so does everything that is done with a store`(verb: String) async throws {
        let outcome = try await Tool().plain("store", verb, "--help")
        #expect(outcome.status == 0)
        try expectSnapshot(outcome.output, "store-\(verb)")
    }

    @Test(arguments: ["list", "sign-in", "sign-out"])
    func `so does everything that is done with credentials`(verb: String) async throws {
        let outcome = try await Tool().plain("credentials", verb, "--help")
        #expect(outcome.status == 0)
        try expectSnapshot(outcome.output, "credentials-\(verb)")
    }

    @Test(arguments: ["get", "put"])
    func `so does everything that is done with a transfer`(verb: String) async throws {
        let outcome = try await Tool().plain("transfer", verb, "--help")
        #expect(outcome.status == 0)
        try expectSnapshot(outcome.output, "transfer-\(verb)")
    }

    @Test(arguments: ["list", "show", "watch", "pause", "resume", "cancel"])
    func `so does everything that is done with operations`(verb: String) async throws {
        let outcome = try await Tool().plain("operations", verb, "--help")
        #expect(outcome.status == 0)
        try expectSnapshot(outcome.output, "operations-\(verb)")
    }

    @Test func `the version is three numbers, followed by the engines`() async throws {
        let outcome = try await Tool().plain("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /\d+\.\d+\.\d+ \(HTTP: AsyncHTTPClient; store: SQLite\)\n/) != nil)
    }

    @Test func `without arguments it explains itself too`() async throws {
        let outcome = try await Tool().plain()
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("call"))
    }

    @Test(arguments: [
        ["fly"], ["call"], ["run"], ["check"],
        ["check", Tool.almanac, "--fast"], ["check", Tool.almanac, "--log-level", "loud"],
        ["call", Tool.almanac, "ClockManager", "now", "null", "more"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "soon"],
        ["call", Tool.almanac, "ClockManager", "now", "--json"], ["check", Tool.almanac, "--data"],
        ["graph", Tool.almanac, "--format", "svg"], ["graph", Tool.almanac, "more"], ["explain", Tool.almanac],
        ["explain", Tool.almanac, "ClockManager", "more"],
        ["services", Tool.almanac, "--format", "dot"], ["names", Tool.almanac, "more"],
        ["run", Tool.almanac, "--keep-starting"], ["dev", Tool.almanac, "--configuration", "fast"],
        ["convert", Tool.almanac, "--to", "yaml"], ["convert", Tool.almanac, "--strict"],
        ["swap"], ["swap", "Clock", "--probation", "0"], ["swap", "Clock", "--error-rate", "0.1"],
        ["swap", "Clock", "--probation", "1", "--error-rate", "2"],
        ["swap", "Clock", "--timeout", "never"], ["swap", "Clock", "--fast"],
        ["swap", "Clock", "--socket", "a", "--manifest", "b"],
        ["rollback"], ["rollback", "a", "b"], ["rollback", "a", "--to", "first"], ["rollback", "a", "--dry-run"],
        ["generations", "a", "b"], ["stats", "a"],
        ["store", "get", "a", "b"], ["store", "restore"], ["store", "list", "--socket", "a", "--data", "b"],
        ["apply", "a", "b"], ["reset", "a", "b"], ["services", "--running", "--plugin-path", "."],
        ["services", Tool.almanac, "--socket", "a"], ["log-level", "loud"], ["log-level", "=debug"],
        ["check", Tool.almanac, "--manifest", Tool.almanac], ["graph", Tool.almanac, "--manifest", "b.json"],
        ["names", "a.json", "--manifest", "b.json"], ["dev", "a.json", "--manifest", "b.json"],
        ["run", Tool.almanac, "--log-format", "xml"], ["run", Tool.almanac, "--log-level", "org.a=loud"],
        ["explain", "A", "--running", "--environment", ""], ["call", "A", "m", "--running", "--data", "."],
        ["inspect"], ["inspect", "a", "b"], ["inspect", "Clock", "--timeout", "0"],
        ["inspect", "Clock", "--timeout", "soon"], ["inspect", "Clock", "--fast"],
        ["validate"], ["validate", "a", "b"], ["validate", "Clock", "--timeout", "0"],
        ["validate", "Clock", "--timeout", "soon"], ["validate", "Clock", "--fast"],
        ["new", "zebra"], ["new", "package"], ["new", "package", "tide-table"], ["new", "app", "Manager"],
        ["new", "plugin", "a/B"],
        ["new", "app", "Tides", "more"], ["new", "manager", "Tides", "--fast"], ["new", "package", "Tides", "--dac"],
        ["new", "manager", "Tides", "--stream", "--dac"], ["new", "contracts", "a/B"],
    ])
    func `arguments that it does not understand are exit code 64, and nothing on standard output`(arguments: [String])
        async throws
    {
        let outcome = try await Tool().start(arguments).end()
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.output == "")
        #expect(outcome.errors.isEmpty == false)
    }
}
