import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought `reconfigure`: in C, loaded from a file.
@Suite(.timeLimit(.minutes(5)))
struct ReconfigureStepTests {
    private static func manifest(_ colours: [String: String]) -> String {
        let instances = colours.map { name, colour in
            #""\#(name)": {"className": "ReconfigureStepManager", "configuration": {"colour": "\#(colour)"}}"#
        }
        return """
            {"manifestVersion": 1, "plugins": [{"library": "ReconfigureStep"}],
             "managers": {\(instances.joined(separator: ", "))}}
            """
    }

    private static func host(_ colours: [String: String], _ flags: String...) async throws -> TestHost {
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/reconfigure.c", encoding: .utf8)
        let folder = try LoadingFixture.Folder()
        try folder.write(
            LoadingFixture.library(
                of: source,
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags),
            as: "libReconfigureStep.so")
        let test = try TestHost(manifest(colours), linked: [], in: folder)
        try await test.host.start()
        return test
    }

    private func apply(_ colours: [String: String], to test: TestHost) async throws -> ManifestChange {
        // Read from the same place, so that the library is found beside it.
        let path = try test.folder.write(Array(Self.manifest(colours).utf8), as: "manifest")
        return try await test.host.apply(ManifestDocument(contentsOf: path))
    }

    private func instances(_ test: TestHost, _ names: [String] = ["A", "B"]) async throws -> [String] {
        var instances: [String] = []
        for name in names {
            instances.append(try await test.call(name, "colour") + (try await test.call(name, "number")))
        }
        return instances.sorted()
    }

    @Test func `components accept another colour`() async throws {
        let test = try await Self.host(["A": "red", "B": "green"])
        let numbers = [try await test.call("A", "number"), try await test.call("B", "number")]
        let change = try await apply(["A": "blue", "B": "green"], to: test)
        #expect(change.reconfigured == ["A"] && change.kept == ["B"] && change.restarted == [])
        #expect(try await test.call("A", "colour") == #""blue""#)
        #expect([try await test.call("A", "number"), try await test.call("B", "number")] == numbers)
        await test.host.stop()
    }

    @Test func `one that refuses leaves all as they were, those that had accepted too`() async throws {
        let test = try await Self.host(["A": "red", "B": "green"])
        let before = try await instances(test)
        for colours in [["A": "blue", "B": "black"], ["A": "black", "B": "blue"]] {
            let refusal = await error { try await apply(colours, to: test) }
            #expect(refusal?.code == .componentFailed)
            #expect(refusal?.message.contains("refused its new configuration, so nothing was changed: black") == true)
            #expect(try await instances(test) == before)
        }
        #expect(try await apply(["A": "red", "B": "white"], to: test).reconfigured == ["B"])
        await test.host.stop()
    }

    @Test func `without the function another instance is made`() async throws {
        let test = try await Self.host(["A": "red"], "-DPLAIN")
        let change = try await apply(["A": "black"], to: test)
        #expect(change.restarted == ["A"] && change.reconfigured == [])
        #expect(try await instances(test, ["A"]) == [#""black"2"#])
        await test.host.stop()
    }
}
