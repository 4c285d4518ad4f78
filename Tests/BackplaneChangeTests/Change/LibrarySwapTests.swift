import Backplane
import BackplaneExchange
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// Libraries that take one another's place under calls.
@Suite(.timeLimit(.minutes(5)))
struct LibrarySwapTests {
    private static let swift = ["Turnstile1", "Turnstile2"],
        c = ["TurnstileInC1", "TurnstileInC2"]

    @Test(arguments: [(LaneRule.fastest, swift), (.encoded, swift), (.fastest, c)])
    func `of the calls under dozens of swaps none is lost, made twice or answered by the wrong code`(
        lanes: LaneRule, libraries: [String]
    ) async throws {
        let editions = try libraries.map(TurnstileFixture.built)
        let fixture = try await TurnstileFixture(editions[0], lanes: lanes), swaps = 24
        #expect(await fixture.host.wires.map { $0.lane == .native } == [lanes == .fastest && libraries == Self.swift])
        let (reports, visits) = try await TurnstileVisitors.with(fixture.turnstile) {
            var reports: [ChangeReport] = []
            for number in 1...swaps {
                reports.append(try await fixture.swap(editions[number % 2]))
                #expect(try await fixture.turnstile.pass(0).handovers == number)
            }
            return reports
        }
        #expect(reports.map(\.outcome) == Array(repeating: .changed, count: swaps))
        #expect(visits.flatMap(\.mistakes) == [])
        #expect(visits.allSatisfy { $0.last != nil }, "all of them came to pass")
        let final = try await fixture.turnstile.pass(0)
        #expect(final.own == swaps + 1)
        #expect(
            final.count == final.own + visits.reduce(0) { $0 + ($1.last?.own ?? 0) },
            "the count that was carried is the sum of what each counted")
        await fixture.host.stop()
    }

    @Test func `from Swift to C and back the lane changes with the code, and the state goes along`() async throws {
        let fixture = try await TurnstileFixture(), first = try TurnstileFixture.built("Turnstile1")
        #expect(try await fixture.turnstile.pass(7).own == 1)
        let there = try await fixture.swap(TurnstileFixture.culprit())
        #expect(there.wires.map { [$0.fromLane, $0.toLane] } == [["native", "encoded"]])
        #expect(try await fixture.turnstile.pass(7).edition == 3)
        let back = try await fixture.swap(first)
        #expect(back.wires.map { [$0.fromLane, $0.toLane] } == [["encoded", "native"]])
        #expect(
            try await fixture.turnstile.pass(7) == Ticket(edition: 1, handovers: 1, count: 2, own: 2),
            "the culprit counts nobody")
        await fixture.host.stop()
    }

    @Test(.nightly) func `the report warns of what stays although the library is replaced`() async throws {
        let files = try TestFolder(), folder = files.path, sources = Page.root.path
        let unique = """
            .data
            .globl shared_count
            .type shared_count, @gnu_unique_object
            .size shared_count, 4
            shared_count: .long 0
            .section .note.GNU-stack,"",@progbits

            """
        try Data(unique.utf8).write(to: URL(filePath: folder + "/unique.s"))
        try Data().write(to: URL(filePath: folder + "/helper.c"))
        try Compiler.run(["clang", "-shared", "-o", folder + "/libhelper.so", folder + "/helper.c"])
        try Compiler.run([
            "clang", "-shared", "-fPIC", "-fvisibility=hidden", "-I", sources + "/Sources/CBackplane/include", "-o",
            folder + "/libLasting.so", sources + "/Tests/Plugins/TurnstileInC/Second/second.c", folder + "/unique.s",
            "-L", folder, "-Wl,--no-as-needed", "-lhelper", "-Wl,-rpath,\(folder)",
        ])
        let fixture = try await TurnstileFixture(TurnstileFixture.built("TurnstileInC1"))
        let report = try await fixture.swap([UInt8](Data(contentsOf: URL(filePath: folder + "/libLasting.so"))))
        let plugin = "org.backplane.turnstile-in-c", warnings = report.warnings.map { $0.prefix { $0 != "," } }
        #expect(
            warnings.filter { $0.contains("keeps using") } == [
                "\(plugin) keeps using the values of the C++ static `shared_count`",
                "\(plugin) keeps using \(folder)/libhelper.so as it was loaded first",
            ])
        await fixture.host.stop()
        withExtendedLifetime(files) {}
    }
}

/// Libraries that go wrong in one step of a swap, in new code or in old.
@Suite(.timeLimit(.minutes(5)))
struct LibraryStepTests {
    private static let limit = Duration.seconds(60)

    /// Swaps the library, and lets the limit of the step pass in which `how` says that it hangs.
    private func failure(
        of fixture: TurnstileFixture, _ library: [UInt8], _ how: String, trusts: Bool = false
    ) async -> BackplaneError? {
        let before = Self.pausedThreads
        let options = ChangeOptions(
            drain: .upTo(.seconds(60), then: .fail), stepLimit: Self.limit, trustsLibraries: trusts)
        return await error {
            guard how == "HANGS" else { return try await fixture.swap(library, options) }
            return try await fixture.test.expiring(
                Self.limit, once: { await eventually { Self.pausedThreads > before } }
            ) {
                try await fixture.swap(library, options)
            }
        }
    }

    /// The number of threads in the system call `pause`, as code that hangs is.
    private static var pausedThreads: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/syscall", encoding: .utf8))?.hasPrefix("34 ") == true
        }
    }

    /// What hangs is still there when the host stops.
    private func stop(_ fixture: TurnstileFixture) async {
        await fixture.test.clock.passing(.milliseconds(300)) { await fixture.host.stop() }
    }

    @Test(arguments: ["ENTRY", "CREATE", "IMPORT", "ACTIVATE"], ["HANGS", "FAILS"])
    func `new code that never returns or fails, in any step, leaves the old as it was`(step: String, how: String)
        async throws
    {
        let fixture = try await TurnstileFixture { $0.stopLimit = .milliseconds(300) }
        let culprit = try TurnstileFixture.culprit([how.lowercased(): step])
        let (failure, visits) = try await TurnstileVisitors.with(fixture.turnstile) {
            // A trial would find it before the host calls the entry function.
            await self.failure(of: fixture, culprit, how, trusts: step == "ENTRY")
        }
        switch (step, how) {
        case ("ENTRY", "HANGS"):
            #expect(failure?.code == .callDeadline && failure?.message.contains("libTurnstile.so") == true)
        case ("ENTRY", _): #expect(failure?.code == .pluginRefused)
        default:
            let name = ["CREATE": "prepare", "IMPORT": "import", "ACTIVATE": "activate"][step] ?? ""
            #expect(
                failure?.code == .swapFailed && failure?.message.contains(": \(name): ") == true,
                "\(String(describing: failure))")
        }
        #expect(visits.flatMap(\.mistakes) == [])
        #expect(visits.allSatisfy { $0.last?.handovers == 0 })
        #expect(try await fixture.generations().active == 1)
        try await fixture.swap(TurnstileFixture.built("Turnstile2"))
        #expect(try await fixture.turnstile.pass(1).edition == 2, "and the next swap comes about")
        await stop(fixture)
    }

    @Test(arguments: ["SUSPEND", "EXPORT"], ["HANGS", "FAILS"])
    func `old code that never returns or fails keeps running, and the step is reported`(step: String, how: String)
        async throws
    {
        let fixture = try await TurnstileFixture(
            TurnstileFixture.culprit([how.lowercased(): step]),
            options: { $0.stopLimit = .milliseconds(300) })
        let failure = await self.failure(of: fixture, try TurnstileFixture.built("Turnstile1"), how)
        #expect(
            failure?.code == .swapFailed && failure?.message.contains(": \(step.lowercased()): ") == true,
            "\(String(describing: failure))")
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        #expect(try await fixture.generations().active == 1)
        await stop(fixture)
    }

    @Test func `state that the new code cannot decode stays with the old`() async throws {
        let fixture = try await TurnstileFixture(TurnstileFixture.culprit(["exported": "10"]))
        let failure = await error { try await fixture.swap(TurnstileFixture.built("Turnstile1")) }
        #expect(
            failure?.code == .swapFailed && failure?.message.contains(": import: ") == true,
            "\(String(describing: failure))")
        #expect(try await fixture.turnstile.pass(1).edition == 3)
        await fixture.host.stop()
    }
}

/// Libraries that must not come into force: the one that is continues as if nothing had been.
@Suite(.timeLimit(.minutes(5)))
struct LibraryMistakeTests {
    /// Has a swap fail, and expects the old code to serve on with its state, and a good library to come into force
    /// afterwards.
    private func expectRefusal(
        _ fixture: TurnstileFixture, _ location: SourceLocation = #_sourceLocation,
        of swap: () async throws -> ChangeReport
    ) async throws -> BackplaneError? {
        let before = try await fixture.turnstile.pass(1), active = try await fixture.generations().active
        let refusal = await error(location) { try await swap() }
        let after = try await fixture.turnstile.pass(1)
        if before.edition < 3 {
            #expect(
                after
                    == Ticket(
                        edition: before.edition, handovers: before.handovers, count: before.count + 1,
                        own: before.own + 1), sourceLocation: location)
        } else {
            #expect(after == before, sourceLocation: location)
        }
        #expect(try await fixture.generations().active == active, sourceLocation: location)
        return refusal
    }

    private let second = Result { try TurnstileFixture.built("Turnstile2") }

    @Test
    func
        `a library that is identical to the active one is not loaded again, whatever its name, and the report says so`()
        async throws
    {
        let fixture = try await TurnstileFixture(), first = try TurnstileFixture.built("Turnstile1")
        let again = try await fixture.swap(first)
        #expect(again.outcome == .unchanged && again.plugins == [] && again.components == [])
        let elsewhere = try await fixture.host.swap(library: fixture.write(first, as: "libElsewhere.so"))
        #expect(elsewhere.outcome == .unchanged)
        #expect(try await fixture.generations() == (1, 1))
        await fixture.host.stop()
    }

    @Test func `of another plugin it says which there are`() async throws {
        let fixture = try await TurnstileFixture()
        let other = try TurnstileFixture.culprit(id: "org.backplane.tests.stranger")
        let refusal = try await expectRefusal(fixture) { try await fixture.swap(other) }
        #expect(refusal?.code == .pluginUnknown)
        #expect(
            refusal?.message.contains("org.backplane.tests.stranger") == true
                && refusal?.message.contains(TurnstileFixture.plugin) == true)
        await fixture.host.stop()
    }

    @Test func `where the manifest gives a SHA-256 another build is refused before it is loaded`() async throws {
        let first = try TurnstileFixture.built("Turnstile1")
        let fixture = try await TurnstileFixture(first, sha256: ContentDigest.sha256(of: first).hexadecimal)
        let refusal = try await expectRefusal(fixture) { try await fixture.swap(second.get()) }
        #expect(refusal?.code == .pluginDigestMismatch && refusal?.location == fixture.path)
        #expect(try await fixture.generations() == (1, 1))
        // Under another name only its entry would tell whose place it takes, and that may not run.
        let renamed = try await expectRefusal(fixture) {
            try await fixture.host.swap(library: fixture.write(second.get(), as: "libRenamed.so"))
        }
        #expect(
            renamed?.message
                == "the manifest has a SHA-256 for \(TurnstileFixture.plugin), and the name libRenamed.so does not show which library it replaces; "
                + "give it the file name of the library that it replaces, so that it can be checked before it is loaded"
        )
        #expect(try await fixture.generations() == (1, 1))
        let elsewhere = try fixture.folder.makeFolder("elsewhere")
        let moved = try await expectRefusal(fixture) {
            try await fixture.host.swap(
                library: fixture.write(second.get(), as: "\(FilePath.name(of: elsewhere))/libTurnstile.so"))
        }
        #expect(moved?.code == .pluginDigestMismatch, "its name tells, wherever it lies")
        #expect(
            try await fixture.host.swap(library: fixture.write(first, as: "libSame.so")).outcome == .unchanged,
            "and its contents tell, too")
        await fixture.host.stop()
    }
}

/// The files that come with a library are a reason to swap it, as its code is.
@Suite(.timeLimit(.minutes(5)))
struct SwapResourcesTests {
    private let fixture: TurnstileFixture
    private var folder: TestFolder { fixture.folder }

    /// A host whose library came with two files, one of them in a folder below.
    init() async throws {
        fixture = try await TurnstileFixture()
        for name in ["app_Turnstile.resources", "app_Turnstile.resources/deep"] { _ = try folder.makeFolder(name) }
        for name in ["name.txt", "deep/name.txt"] {
            try folder.write(Array("first".utf8), as: "app_Turnstile.resources/" + name)
        }
        let came = try await fixture.host.swap(library: fixture.path)
        #expect(came.outcome == .changed, "there were none before")
    }

    private func swap() async throws -> ChangeReport.Outcome {
        try await fixture.host.swap(library: fixture.path).outcome
    }

    @Test func `a library with the same files, rewritten or not, is already active`() async throws {
        #expect(try await swap() == .unchanged)
        try folder.write(Array("first".utf8), as: "app_Turnstile.resources/name.txt")
        #expect(try await swap() == .unchanged)
        #expect(try await fixture.generations() == (2, 2), "nothing was loaded to find that out")
    }

    @Test(arguments: ["name.txt", "deep/name.txt"])
    func `other contents are a new generation, also of the same length`(name: String) async throws {
        for text in ["other", "longer than it was", ""] {
            try folder.write(Array(text.utf8), as: "app_Turnstile.resources/" + name)
            #expect(try await swap() == .changed)
            #expect(try await swap() == .unchanged)
        }
    }

    @Test func `a file that is new, gone or a folder now is a change`() async throws {
        try folder.write([], as: "app_Turnstile.resources/deep/new.txt")
        #expect(try await swap() == .changed)
        try FileManager.default.removeItem(atPath: folder.path + "/app_Turnstile.resources/deep/new.txt")
        #expect(try await swap() == .changed)
        try FileManager.default.removeItem(atPath: folder.path + "/app_Turnstile.resources/name.txt")
        _ = try folder.makeFolder("app_Turnstile.resources/name.txt")
        #expect(try await swap() == .changed)
        _ = try folder.makeFolder("app_Turnstile.resources/deep/empty")
        #expect(try await swap() == .changed)
        #expect(try await swap() == .unchanged)
        FileTree.remove(folder.path + "/app_Turnstile.resources")
        #expect(try await swap() == .changed)
        #expect(try await swap() == .unchanged)
    }
}
