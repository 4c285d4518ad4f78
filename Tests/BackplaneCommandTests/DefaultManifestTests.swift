import ArgumentParser
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// Which manifest a command takes that is given none.
@Suite(.timeLimit(.minutes(10)))
struct DefaultManifestTests {
    private let tool: Tool
    /// A folder with nothing in it but what a test writes.
    private var here: String { tool.folder + "/here" }

    init() throws {
        tool = try Tool()
        try FileManager.default.createDirectory(atPath: here, withIntermediateDirectories: true)
    }

    private func run(_ arguments: String...) async throws -> Tool.Outcome {
        try await RunningTool(
            arguments + ["--data", tool.data, "--load-folder", tool.loads, "--plugin-path", BuiltProducts.folder],
            input: nil,
            in: here
        ).end()
    }

    /// A manifest of one manager.
    private func write(_ manager: String, as name: String) throws {
        try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"\#(manager)": {"className": "ClockManager"}}}"#,
            as: "here/" + name)
    }

    @Test(arguments: ["NLManagerProvider.plist"])
    func `each of the names is found in the current folder`(name: String) async throws {
        try write("Here", as: name)
        let outcome = try await run("names")
        #expect(outcome.status == 0 && outcome.output.hasPrefix("// The managers of \(name), "), "\(outcome.errors)")
        #expect(outcome.errors == "")
    }

    @Test func `of several the first is taken, and standard error says so`() async throws {
        for name in ManifestChoice.names {
            try write(name.contains("NL") ? "Third" : name.contains("json") ? "First" : "Second", as: name)
        }
        let outcome = try await run("call", "First", "now")
        #expect(outcome.status == 0)
        #expect(
            outcome.errors
                == "backplane: using backplane.json, not backplane.plist or NLManagerProvider.plist; to use another, specify its path\n"
        )
        #expect(
            try await run("check", "NLManagerProvider.plist").errors == "", "nothing is said of a choice that was made")
    }

    @Test(arguments: [["run"], ["call", "Clock", "now"]])
    func `where there is none that is wrong usage, and says what was looked for and where`(arguments: [String])
        async throws
    {
        let outcome = try await RunningTool(arguments, input: nil, in: here).end()
        #expect(outcome.status == 64 && outcome.output == "")
        for word in ManifestChoice.names + [here, "specify its path"] {
            #expect(outcome.errors.contains(word), "\(outcome.errors)")
        }
    }

    @Test(
        arguments: [
            (["A", "m"], nil, "A", "m", "null"), (["A", "m", "1"], nil, "A", "m", "1"),
            (["x.json", "A", "m"], "x.json", "A", "m", "null"),
            (["x.plist", "A", "m", "-"], "x.plist", "A", "m", "-"), (["here", "A", "m"], "here", "A", "m", "null"),
            (["A.json", "B.json", "m"], "A.json", "B.json", "m", "null"),
            (["./x", "a/b", "m"], "./x", "a/b", "m", "null"),
        ] as [([String], String?, String, String, String)])
    func `a call's words are told apart by the first`(
        words: [String], manifest: String?, manager: String, method: String, input: String
    ) throws {
        let split = ManifestChoice.split(words) { $0 == "here" }
        #expect(split.manifest == manifest)
        #expect(Array(split.rest) == [manager, method] + (input == "null" ? [] : [input]))
        guard manifest != "here" else { return }
        let call = try BackplaneTool.Call.parse(words).given()
        #expect(call.manifest == manifest && call.manager == manager && call.method == method)
        #expect(call.input == (input == "null" ? nil : input))
    }
}
