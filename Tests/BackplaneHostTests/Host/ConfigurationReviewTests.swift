import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What `check` finds wrong with configurations, without making an instance.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationReviewTests {
    private static let managers = """
        "Sound": {"className": "TrialManager", "configuration": {"refusesToStart": true}},
        "Odd": {"className": "TrialManager", "configuration": {"refusesToStrat": true, "neverStarts": false}},
        "User": {"className": "RelayManager", "uses": {"trials": "Wrong"}},
        "Wrong": {"className": "TrialManager", "configuration": {"refusesToStart": "yes"}}
        """

    @Test(arguments: Origin.allCases)
    func `a value of the wrong type is an error where it stands, an unknown key a warning, and nothing is made`(
        origin: Origin
    ) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let problems = await test.host.check()
        #expect(
            problems.map { "\($0.severity) \($0.manager ?? "-") \($0.error.code) \($0.error.location ?? "-")" } == [
                "warning Odd manifest.unknown-key /managers/Odd/configuration/refusesToStrat",
                "error User manager.unsatisfied /managers/User/uses/trials",
                "error Wrong configuration.invalid /managers/Wrong/configuration/refusesToStart",
            ])
        #expect(problems.allSatisfy { $0.position != nil })
        #expect(problems.first?.error.message.contains("`refusesToStrat`") == true)
        #expect(test.log.lines == [])
        #expect(
            await test.host.managers.map(\.state.description) == ["resolved", "resolved", "unsatisfied", "unsatisfied"])
        await test.host.stop()
    }

    @Test func `a plugin in C that does not look at configurations finds nothing wrong with them`() async throws {
        let test = try UnrulyPlugin.host("Unruly")
        #expect(await test.host.check() == [])
        await test.host.stop()
    }

    @Test(arguments: [
        ("review_twice", "manifest.unknown-key"), ("review_never", "plugin.invalid-answer"),
        ("review_nonsense", "plugin.invalid-answer"),
    ])
    func `a plugin in C that answers twice, too late or nonsense does no harm`(review: String, code: String)
        async throws
    {
        let test = try UnrulyPlugin.host(
            "Unruly", "MadeTwice", entered: "components[0].review = components[1].review = \(review)")
        let problems = await test.host.check()
        #expect(problems.map(\.error.code.description) == [code, code])
        #expect(problems.map(\.manager) == ["MadeTwice", "Unruly"])
        await test.host.stop()
    }
}
