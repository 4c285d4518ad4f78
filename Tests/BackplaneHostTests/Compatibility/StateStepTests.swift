import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought the lane of a state: in C, loaded from a file.
@Suite(.timeLimit(.minutes(5)))
struct StateStepTests {
    private static func library(_ edition: Int) throws -> [UInt8] {
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/state.c", encoding: .utf8)
        return try LoadingFixture.library(
            of: source,
            [
                "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden", "-DEDITION=\(edition)",
            ])
    }

    @Test func `a lane of another revision is not read, and the state crosses as bytes`() async throws {
        let folder = try LoadingFixture.Folder()
        let path = try folder.write(Self.library(1), as: "libStateStep.so")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "StateStep"}],
             "managers": {"StateStep": {"className": "StateStepManager"}}}
            """#,
            linked: [], in: folder)
        try await test.host.start()
        for number in 1...3 { #expect(try await test.call("StateStep", "add") == "\(number)") }
        try folder.write(Self.library(2), as: "libStateStep.so")
        // With a trial, whose child reads the descriptors as well.
        let report = try await test.host.swap(library: path)
        let state = try #require(report.components.first?.state)
        #expect(state.lane == "encoded" && state.bytes == 4)
        #expect(state.reason?.contains("uses revision 4294967295 of the native lane") == true)
        #expect(try await test.call("StateStep", "edition") == "2")
        #expect(try await test.call("StateStep", "add") == "4")
        await test.host.stop()
    }
}
