import Backplane
import BackplaneExchange
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

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
