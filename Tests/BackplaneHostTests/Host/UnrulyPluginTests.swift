import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A plugin that does what the header forbids gets an error at most: nothing crashes and nothing hangs.
@Suite(.timeLimit(.minutes(10)))
struct UnrulyPluginTests {
    /// Expects a call to end at its deadline while the plugin has it.
    private func expectOverdue(_ method: String, in test: TestHost) async {
        let error = await error {
            try await test.expiring(.farAway) { try await test.call("Unruly", method, within: .farAway) }
        }
        #expect(error?.code == .callDeadline)
        #expect(error?.message.contains("before `\(method)` of Unruly answered") == true)
        // The deadline may pass while the thread has yet to enter the plugin.
        await hasReturned("Unruly", in: test)
    }

    /// Waits until the functions of a plugin that were called have returned.
    ///
    /// They may return after they have answered.
    private func hasReturned(_ manager: String, in test: TestHost) async {
        guard let calls = try? await test.host.coordinator.running(manager).calls else { return }
        await eventually { calls.callsInFlight == 0 }
    }

    @Test func `only the first answer to a call counts`() async throws {
        let test = try UnrulyPlugin.host("Unruly")
        for _ in 0..<100 { #expect(try await test.call("Unruly", "twice") == "1") }
        await test.host.stop()
    }

    @Test func `a call that is never answered ends at its deadline, and does not keep the host from stopping`()
        async throws
    {
        let test = try UnrulyPlugin.host("Unruly")
        await expectOverdue("never", in: test)
        #expect(try await test.call("Unruly", "twice") == "1")
        await test.host.stop()
    }

    @Test func `a call that is never answered and has no deadline is left behind when the host stops`() async throws {
        let test = try UnrulyPlugin.host("Unruly", stopLimit: .milliseconds(20))
        _ = try await test.call("Unruly", "twice")
        let calls = try await test.host.coordinator.running("Unruly").calls
        let call = Task { try await test.call("Unruly", "never") }
        await eventually { calls.callsInFlight > 0 }
        await test.clock.passing(.milliseconds(20)) { await test.host.stop() }
        call.cancel()  // a plugin in C without `cancel` cannot be cancelled: nobody waits for it here
    }

    @Test func `a synchronous method that does not answer at once fails, and its late answer is about nothing`()
        async throws
    {
        struct Unruliness: Contract {
            static let version: Version = "1.0.0"
            let slow = SyncMethod<Nothing, String>()
        }
        let test = try UnrulyPlugin.host("Unruly")
        let manager: Remote<Unruliness> = try await test.host.manager("Unruly")
        for error in [await error { try manager.slow() }, await error { try await test.call("Unruly", "slow") }] {
            #expect(error?.code == .componentFailed)
            #expect(error?.message == "`slow` of Unruly is synchronous but did not answer before returning")
            #expect(try await test.call("Unruly", "settle") == "null")
        }
        await test.host.stop()
    }

    @Test func `a result that is not JSON is the provider's invalid output`() async throws {
        struct Unruliness: Contract {
            static let version: Version = "1.0.0"
            let noJSON = AsyncMethod<Nothing, String>()
            let twice = AsyncMethod<Nothing, String>()
        }
        let test = try UnrulyPlugin.host("Unruly")
        let manager: Remote<Unruliness> = try await test.host.manager("Unruly")
        #expect(await error { try await manager.noJSON() }?.code == .callInvalidOutput)
        #expect(await error { try await manager.twice() }?.code == .callInvalidOutput, "JSON of another type")
        await test.host.stop()
    }

    // MARK: Lifecycle

    @Test(arguments: [("NeverMade", "be created"), ("NeverActive", "be activated")])
    func `a component that never starts is abandoned at the limit, and not released while it may be working`(
        name: String, step: String
    ) async throws {
        let limit = Duration.seconds(7), test = try UnrulyPlugin.host(name, startLimit: limit)
        let call = Task { try await test.call(name, "twice") }
        // The limit must not pass in the step before.
        let lines = name == "NeverActive" ? ["NeverActive created"] : []
        await eventually { test.log.lines == lines }
        let overdue = await test.clock.passing(limit) { await error { try await call.value } }
        #expect(overdue?.code == .callDeadline)
        #expect(overdue?.location == "/managers/\(name)")
        #expect(overdue?.message.hasSuffix(step) == true)
        await test.host.stop()
        #expect(test.log.lines == lines)
    }

    @Test
    func `a function that never returns costs its own thread: the limit passes, and others start, are called and stop`()
        async throws
    {
        let test = try UnrulyPlugin.host("MadeForEver", "Unruly", startLimit: .seconds(10))
        let overdue = await error {
            try await test.expiring(.seconds(10)) { try await test.call("MadeForEver", "has", "backplane.log") }
        }
        #expect(overdue?.code == .callDeadline)
        #expect(try await test.call("Unruly", "has", "backplane.log") == "true")
        await test.host.stop()
        #expect(test.log.lines == ["Unruly released"])
    }

    @Test func `a component that never stops is left behind at the limit`() async throws {
        let test = try UnrulyPlugin.host("NeverStopped", "Unruly", stopLimit: .milliseconds(50))
        // One after the other: the plugin writes to the log of the one that was made last.
        for manager in ["NeverStopped", "Unruly"] { _ = try? await test.call(manager, "has") }
        #expect(await test.host.managers.map(\.state.description) == ["ready", "ready"])
        for manager in ["NeverStopped", "Unruly"] { await hasReturned(manager, in: test) }
        await test.clock.passing(.milliseconds(50)) { await test.host.stop() }
        #expect(test.log.records.contains { $0.level == .error && $0.metadata["component"] == "NeverStopped" })
        #expect(test.log.lines == ["Unruly released"])
        #expect(test.loadFolders() == [])
    }
}

/// Plugins whose answer at the entry cannot be believed: each is refused with a reason, and its managers throw it.
@Suite(.timeLimit(.minutes(10)))
struct InvalidAnswerTests {
    struct Case: Sendable {
        /// What spoils the answer: statements of the plugin in C.
        var spoil: String
        var code: BackplaneError.Code
        /// What the message says.
        var says: [String]

        init(_ spoil: String, _ code: BackplaneError.Code, _ says: String...) {
            (self.spoil, self.code, self.says) = (spoil, code, says)
        }
    }

    static let cases = [
        Case("own.abi = 99", .pluginABIMismatch, "chose ABI 99", "0 to 0"),
        Case(
            "memset(&own.self_check, 0, sizeof own.self_check)", .pluginLayoutMismatch, "no self-check",
            "bp_check_self()"),
        Case("own.size = offsetof(bp_answer, self_check)", .pluginLayoutMismatch, "no self-check", "bp_check_self()"),
        Case(
            "layout[3].offset = 6; REHASH", .pluginLayoutMismatch, "bp_call.flags", "at offset 4 in the host",
            "at 6 in the plugin"),
        Case("layout[3].size = 2; REHASH", .pluginLayoutMismatch, "bp_call.flags", "4 bytes", "2 at 4 in the plugin"),
        Case("own.self_check.fields = NULL; REHASH", .pluginLayoutMismatch, "BP_LAYOUT"),
        Case("own.self_check.field_count = 0; REHASH", .pluginLayoutMismatch, "bp_call.path", "BP_LAYOUT"),
        Case("layout[5].name = NULL; REHASH", .pluginLayoutMismatch, "bp_call.path"),
        Case("own.self_check.field_count = 70000; own.self_check.layout_hash = 1", .pluginLayoutMismatch, "70000"),
        Case(
            "own.self_check.field_count = (size_t)-1; own.self_check.layout_hash = 1", .pluginLayoutMismatch,
            "18446744073709551615"),
        Case("own.self_check.layout_hash = 1", .pluginLayoutMismatch, "the plugin reports 0x1", "bp_layout_hash"),
        Case(
            "own.toolchain.length = (size_t)-1", .pluginInvalidAnswer,
            "the plugin's toolchain", "18446744073709551615"),
        Case(
            "own.problems = text(\"one\\ntwo\")", .pluginInvalidAnswer,
            "the components of org.example.unruly 1.0.0 are declared incorrectly", "one", "two"),
        Case("own.size = 4096", .pluginInvalidAnswer, "4096"),
        Case("own.size = 8", .pluginInvalidAnswer, "8"),
        Case("own.id = text(\"\\xff\\xfe\")", .pluginInvalidAnswer, "the plugin's id is not UTF-8"),
        Case("own.id = text(\"\")", .pluginInvalidAnswer, "the plugin's id is empty"),
        Case("own.id = text(\"two words\")", .pluginInvalidAnswer, "the plugin's id contains spaces"),
        Case("own.id.data = NULL", .pluginInvalidAnswer, "the plugin's id", "without bytes"),
        Case(
            "own.id = text(\"org.example.other\")", .pluginInvalidAnswer, "org.example.other 1.0.0",
            "its identity states org.example.unruly 1.0.0"),
        Case(
            "own.version = text(\"1.0.1\")", .pluginInvalidAnswer, "org.example.unruly 1.0.1",
            "its identity states org.example.unruly 1.0.0"),
        Case("own.version = text(\"one\")", .pluginInvalidAnswer, "the plugin's version", "`one`"),
        Case("own.component_count = (size_t)-1", .pluginInvalidAnswer, "components"),
        Case("own.components = NULL", .pluginInvalidAnswer, "components", "without an array"),
        Case("components[0].size = 4", .pluginInvalidAnswer, "sizeof(bp_component)"),
        Case("components[0].role = 9", .pluginInvalidAnswer, "Unruly", "found 9"),
        Case("components[0].create = NULL", .pluginInvalidAnswer, "Unruly has no `create` function"),
        Case("components[0].call = NULL", .pluginInvalidAnswer, "Unruly has methods but no `call` function"),
        Case("components[0].class_name = text(\"\\xff\")", .pluginInvalidAnswer, "class name is not UTF-8"),
        Case(
            "components[1].class_name = components[0].class_name", .pluginInvalidAnswer, "registers Unruly 1.0.0 twice"),
        Case("components[0].methods = NULL", .pluginInvalidAnswer, "Unruly's methods", "without an array"),
        Case("components[0].contract_version = text(\"\")", .pluginInvalidAnswer, "Unruly: the contract's version"),
        Case(
            "components[0].annotation = text(\"{\")", .pluginInvalidAnswer,
            "Unruly's annotation cannot be read as JSON", "line 1, column 2"),
        Case(
            "components[0].annotation.length = 300000", .pluginInvalidAnswer, "Unruly's annotation",
            "at most 262144 bytes"),
        Case(
            "components[0].methods = same_methods; components[0].method_count = 2", .pluginInvalidAnswer,
            "two methods named `a`"),
        Case(
            "components[0].wires = same_wires; components[0].wire_count = 2", .pluginInvalidAnswer,
            "two wires named `w`"),
        Case("return 42", .pluginRefused, "returned 42"),
        Case("return BP_UNIMPLEMENTED", .pluginABIMismatch, "none of this host's ABI numbers"),
    ]

    @Test(arguments: cases.indices)
    func `it is refused with a reason`(number: Int) async throws {
        let spoilt = Self.cases[number]
        let test = try UnrulyPlugin.host("Unruly", entered: spoilt.spoil)
        let refusal = try #require(
            await test.host.check().first { $0.error.code == spoilt.code }?.error, "\(spoilt.spoil)")
        #expect(refusal.location == "/plugins/0/library")
        for text in spoilt.says {
            #expect(refusal.detailedDescription.contains(text), "\(spoilt.spoil): \(refusal.detailedDescription)")
        }

        let error = await error { try await test.call("Unruly", "twice") }
        #expect(error?.code == .unknownClass)
        #expect(error?.causes.contains { $0.code == spoilt.code } == true, "why the class is not there")
        await test.host.stop()
    }

    @Test func `equal hashes are all that is looked at of the layout`() async throws {
        let test = try UnrulyPlugin.host("Unruly", entered: "own.self_check.fields = NULL")
        #expect(try await test.call("Unruly", "twice") == "1")
        await test.host.stop()
    }
}

/// A plugin in C that does what the header forbids.
enum UnrulyPlugin {
    /// A host of managers named after their classes.
    ///
    /// - Parameters:
    ///   - classes: `Unruly` and the ones that fail in their lifecycle (`Tests/Plugins/Hostile/Library/hostile.c`).
    ///   - entered: The statements there that change what the entry answers.
    static func host(
        _ classes: String..., entered: String = "", startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(10)
    ) throws -> TestHost {
        let folder = try TestFolder()
        try folder.write(
            FixtureLibrary.bytes("Hostile", id: "org.example.unruly", settings: ["entered": entered]),
            as: "libUnruly.so")
        let managers = classes.map { #""\#($0)": {"className": "\#($0)"}"# }.joined(separator: ", ")
        return try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "Unruly"}], "managers": {\#(managers)}}"#,
            in: folder, startLimit: startLimit, stopLimit: stopLimit)
    }
}
