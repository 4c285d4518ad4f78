import Backplane
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// What is thrown arrives as the same error, in either lane, from the host and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct ErrorParityTests {
    @Test(arguments: Route.allCases)
    func `every error arrives with all it has`(route: Route) async throws {
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases {
                #expect(await error { try await failures.fail(kind) } == kind.error)
                #expect(throws: kind.error) { try failures.failNow(kind) }
            }
            #expect(await error { try await failures.failDeep(100) } == .deep(100))
        }
    }

    @Test(arguments: Route.allCases)
    func `errors that came out of a plugin outlive its host`(route: Route) async throws {
        var kept: [FailureKind: BackplaneError] = [:]
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases { kept[kind] = await error { try await failures.fail(kind) } }
        }
        for kind in FailureKind.allCases {
            #expect(kept[kind] == kind.error)
            #expect(kept[kind]?.detailedDescription.hasSuffix(kind.error.detailedDescription) == true)
        }
    }
}
