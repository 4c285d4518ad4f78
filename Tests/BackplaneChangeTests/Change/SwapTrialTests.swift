import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

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
