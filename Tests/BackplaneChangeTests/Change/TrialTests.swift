import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Libraries in a process of their own: this one is told how each of them ended it, and outlives them all.
@Suite(.timeLimit(.minutes(5)))
struct TrialTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Tries a library with these settings (`Tests/Plugins/Hostile/Library/hostile.c`).
    private func open(_ settings: [String: String], limit: Duration = .seconds(60)) throws -> Trial.Conclusion {
        let bytes = try FixtureLibrary.bytes("Hostile", settings: settings)
        return Trial.open(try folder.write(bytes, as: "lib\(UUID().uuidString).so"), limit: limit)
    }

    @Test func `a library that does nothing wrong passes, and its constructors and destructors have run`() throws {
        let loaded = folder.path + "/loaded", ended = folder.path + "/ended"
        let settings = [
            "loaded": #"create_file("begun")"#, "begun": loaded, "ended": #"create_file("file")"#, "file": ended,
        ]
        #expect(try open(settings) == .passed)
        #expect(FileContents.exists(loaded) && FileContents.exists(ended))
    }

    @Test func `whatever ends the child is told, with the stage and what it printed`() throws {
        #expect(
            try open(["loaded": "abort()"]) == .died(.signal(SIGABRT), stage: .loading, printed: ""))
        #expect(
            try open(["loaded": "*(volatile int *)8 = 1"])
                == .died(.signal(SIGSEGV), stage: .loading, printed: ""))
        // ThreadSanitizer has an exit code of its own for a process that ends in the dynamic loader.
        if !OccupiedPoolProgram.isThreadSanitized {
            #expect(try open(["loaded": "_exit(0)"]) == .died(.exit(0), stage: .loading, printed: ""))
            #expect(
                try open(["loaded": #"(void)!write(2, "no licence\n", 11); exit(7)"#])
                    == .died(.exit(7), stage: .loading, printed: "no licence\n"))
        }
        #expect(try open(["ended": "abort()"]) == .died(.signal(SIGABRT), stage: .ending, printed: ""))
        #expect(try open(["ended": "_exit(9)"]) == .died(.exit(9), stage: .ending, printed: ""))
    }

    /// Expects a trial to come to its limit in a stage: on a busy machine a first limit may pass before that.
    private func expectOverdue(
        in stage: Trial.Stage, _ location: SourceLocation = #_sourceLocation,
        _ trial: (Duration) throws -> Trial.Conclusion
    ) throws {
        for limit in [Duration.milliseconds(300), .seconds(3), .seconds(20)] {
            let conclusion = try trial(limit)
            guard case .died(.overdue, let found, let printed) = conclusion, printed.isEmpty else {
                Issue.record("\(conclusion)", sourceLocation: location)
                return
            }
            if found == stage { return }
        }
        Issue.record("the stage was not reached", sourceLocation: location)
    }

    /// Tries a plugin whose entry function runs `statements`.
    private func enter(_ statements: String, limit: Duration = .seconds(60)) throws -> Trial.Conclusion {
        try open(["entered": statements], limit: limit)
    }

    @Test func `the entry function runs, and what ends the child there is told`() throws {
        #expect(try enter("(void)0") == .passed)
        #expect(try enter("abort()") == .died(.signal(SIGABRT), stage: .entering, printed: ""))
        #expect(try enter("exit(0)") == .died(.exit(0), stage: .entering, printed: ""))
        #expect(
            try enter("*(volatile int *)NOWHERE = 1") == .died(.signal(SIGSEGV), stage: .entering, printed: ""))
        try expectOverdue(in: .entering) { try enter("for (;;) pause()", limit: $0) }
        #expect(try enter("return BP_FAILED") == .passed, "the host is told so itself")
    }

    @Test func `the entry function is offered what a host offers, and services that know no component`() throws {
        #expect(try enter("check(offer)") == .passed)
    }

    @Test(arguments: [
        "own.id.data = NOWHERE", "own.version.data = NOWHERE", "own.toolchain.data = NOWHERE",
        "own.problems = (bp_bytes){NOWHERE, 5}", "own.components = NOWHERE",
        "own.components = (const void *)((uintptr_t)NOWHERE + 1)",
        "own.self_check.layout_hash = 0; own.self_check.fields = NOWHERE",
        "changed.class_name.data = NOWHERE", "changed.version.data = NOWHERE", "changed.contract.data = NOWHERE",
        "changed.contract_version.data = NOWHERE", "changed.methods = NOWHERE", "method.name.data = NOWHERE",
        "changed.wires = NOWHERE; changed.wire_count = 1", "wire.label.data = NOWHERE", "wire.contract.data = NOWHERE",
        "wire.contract_version.data = NOWHERE", "wire.methods = NOWHERE", "changed.state = NOWHERE",
        "state.schema.data = NOWHERE; changed.state = &state",
        "own.lane_revision = offer->lane_revision; changed.lane = NOWHERE",
        "own.lane_revision = offer->lane_revision; wire.lane = NOWHERE",
        "own.lane_revision = offer->lane_revision; changed.lane = lane",
    ])
    func `a descriptor that cannot be read ends the child, not the host`(_ change: String) throws {
        let verdict = try enter(Self.answering(change))
        #expect(verdict == .died(.signal(SIGSEGV), stage: .reading, printed: ""), "\(change)")
    }

    @Test(arguments: [
        "memset(&own.self_check, 0, sizeof own.self_check)", "own.self_check.layout_hash = 1",
        "answer->size = 8; return BP_OK",
        "own.abi = 99",
        "own.component_count = 65536", "changed.size = 7",
    ])
    func `what the host refuses before it reads on is no death`(_ change: String) throws {
        let unreadable =
            change.contains("changed") ? "changed.class_name.data = NOWHERE" : "own.components = NOWHERE"
        #expect(try enter(Self.answering("\(unreadable); \(change)")) == .passed)
    }

    /// The statements of an entry function that answers with a changed copy of a turnstile's description.
    private static func answering(_ change: String) -> String {
        "own.components = &changed; own.component_count = 1; \(change)"
    }

    @Test(arguments: ["Turnstile1", "_Challenge", "_Parity", "_ParityRelay", "TurnstileInC1"])
    func `plugins that do nothing wrong pass, in Swift with their layouts, and in C`(_ library: String) throws {
        #expect(Trial.open(BuiltProducts.folder + "/lib\(library).so", limit: .seconds(60)) == .passed)
    }

    @Test func `one that comes to no end is killed, with what it started`() async throws {
        let mark = folder.path + "/mark", lock = folder.path + "/lock"
        // The child and the process that it starts have the same lock, which is free when both are gone.
        let settings = ["loaded": "lock_and_fork(); for (;;) pause()", "lock": lock, "file": mark]
        // On a busy machine a first limit may pass before that.
        for limit in [Duration.milliseconds(300), .seconds(3), .seconds(20)] where !FileContents.exists(mark) {
            #expect(try open(settings, limit: limit) == .died(.overdue, stage: .loading, printed: ""))
        }
        #expect(FileContents.exists(mark))
        let file = creat(lock, 0o600)
        defer { close(file) }
        await eventually { flock(file, LOCK_EX | LOCK_NB) == 0 }
        try expectOverdue(in: .ending) { try open(["ended": "for (;;) pause()"], limit: $0) }
    }

    @Test func `what the loader refuses in good order is no death`() throws {
        #expect(Trial.open(try folder.write([1, 2, 3], as: "libNone.so"), limit: .seconds(60)) == .passed)
    }
}

/// Libraries that end the process that loads them: the host does not load them, and serves on.
@Suite(.timeLimit(.minutes(5)))
struct SwapTrialTests {
    private static let limits = ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))

    /// A turnstile in C that appends a line to a file whenever it is loaded.
    private func counted(_ file: String, edition: Int = 3) throws -> [UInt8] {
        try TurnstileFixture.culprit(["loaded": "note_process()", "file": file], edition: edition)
    }

    private func loads(_ file: String) -> [Int32] {
        ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { Int32($0) }
    }

    @Test(arguments: [
        ("loaded", "abort()", "ended it with signal 6 (Aborted) while it was loaded"),
        ("loaded", "exit(3)", "ended it with exit code 3 while it was loaded"),
        ("entered", "abort()", "ended it with signal 6 (Aborted) in its entry function"),
        (
            "entered", "own.components = NOWHERE",
            "ended it with signal 11 (Segmentation fault) while the answer of its entry function was read"
        ),
        ("ended", "abort()", "ended it with signal 6 (Aborted) when the process was to end"),
    ])
    func `neither a swap nor a preview loads what ends its process`(_ when: String, _ what: String, _ reason: String)
        async throws
    {
        let fixture = try await TurnstileFixture()
        try fixture.build(TurnstileFixture.culprit([when: what]))
        let refused = await error { try await fixture.host.swap(library: fixture.path, Self.limits) }
        let looked = await error { try await fixture.host.preview([fixture.path], Self.limits) }
        // ThreadSanitizer has an exit code of its own for a process that ends in the dynamic loader.
        let isReported = OccupiedPoolProgram.isThreadSanitized && reason.contains("exit code")
        for refusal in [refused, looked] {
            #expect(refusal?.code == .pluginTrialFailed && refusal?.location == fixture.path)
            #expect(
                refusal?.message.contains(isReported ? "ended it with exit code" : reason) == true,
                "\(String(describing: refusal))")
        }
        #expect(try await fixture.turnstile.pass(1).edition == 1)
        #expect(try await fixture.generations() == (1, 1))
        try await fixture.swap(TurnstileFixture.built("Turnstile2"))
        #expect(try await fixture.turnstile.pass(1).edition == 2)
        await fixture.host.stop()
    }

    @Test func `a library is opened in a child first, but for one that is trusted`() async throws {
        let fixture = try await TurnstileFixture(), file = fixture.folder.path + "/times"
        try await fixture.swap(counted(file))
        let tried = loads(file)
        #expect(tried.count == 2 && tried.first != getpid() && tried.last == getpid())
        try await fixture.swap(TurnstileFixture.built("Turnstile2"))
        var trusting = Self.limits
        trusting.trustsLibraries = true
        try await fixture.swap(counted(file), trusting)
        #expect(loads(file).dropFirst(2) == [getpid()])
        try await fixture.host.rollback(plugin: TurnstileFixture.plugin, Self.limits)
        #expect(loads(file).count == 3, "what is in memory already is not tried again")
        await fixture.host.stop()
    }

    @Test(arguments: [(TrialRule.never, 0, 0), (.whileRunning, 0, 1), (.always, 1, 1)])
    func `the rule says which loads have a trial`(_ rule: TrialRule, _ atFirst: Int, _ later: Int) async throws {
        let folder = try TestFolder(), file = folder.path + "/times"
        let fixture = try await TurnstileFixture(counted(file)) { $0.trials = rule }
        #expect(loads(file).count { $0 != getpid() } == atFirst)
        let second = try fixture.write(counted(file, edition: 4), as: "libOther.so")
        let manifest = ManifestDocument(
            parsing: Data(
                #"{"manifestVersion": 1, "plugins": [{"library": "\#(second)"}], "managers": {"Turnstile": {"className": "TurnstileManager"}}}"#
                    .utf8))
        try await fixture.host.apply(manifest)
        #expect(loads(file).count { $0 != getpid() } == atFirst + later)
        await fixture.host.stop()
    }

    @Test func `a host that cannot try libraries loads them all the same, and says so once`() async throws {
        let fixture = try await TurnstileFixture { $0.canTryLibraries = false }
        try await fixture.swap(TurnstileFixture.built("Turnstile2"))
        try await fixture.swap(TurnstileFixture.culprit())
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        let told = fixture.test.log.records.filter { $0.message.contains("not tried in a child process first") }
        #expect(told.count == 1 && told.first?.level == .notice)
        await fixture.host.stop()
    }
}
