import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Loading all that a manifest names.
@Suite(.timeLimit(.minutes(5)))
struct PluginLoaderTests {
    @Test func `what cannot be loaded is reported in the order of the manifest, whichever step it fails in`()
        async throws
    {
        let host = try TestHost(
            #"""
            {"manifestVersion": 1, "managers": {"Clock": {"className": "ClockManager"}}, "plugins": [
                {"library": "NotHere"}, {"library": "Clock", "version": "[9.0,10.0)"}, {"library": "Clock"}, "Clock", "Neither"
            ]}
            """#)
        let errors = await host.host.check().map(\.error)
        #expect(errors.map(\.location) == ["/0/library", "/1/library", "/3", "/4"].map { "/plugins\($0)" })
        #expect(errors.map(\.code) == [.pluginNotFound, .versionOutOfRange, .pluginDuplicate, .pluginNotFound])
        let time = try await host.call("Clock", "now")
        #expect(time.isEmpty == false, "those that failed keep no other out")
        await host.host.stop()
    }

    @Test func `two libraries with one id are both named, before what follows from it`() async throws {
        let files = try TestFolder()
        let library = BuiltProducts.folder + "/libClock.so", copy = files.path + "/libOther.so"
        try FileManager.default.copyItem(atPath: library, toPath: copy)
        let host = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "Clock"}, {"library": "\#(copy)"}],
             "managers": {"Other": {"className": "OtherManager"}}}
            """#)
        let problems = await host.host.check()
        #expect(problems.map(\.error.code) == [.pluginDuplicate, .unknownClass])
        #expect(problems.map(\.isConsequence) == [false, true])
        let words = "the library `\(copy)` is not loaded: it is `org.backplane.clock` 1.0.0, as is "
        let message = problems[0].error.message
        #expect(
            message.hasPrefix(words) && message.hasSuffix("libClock.so, which is loaded; give one another id"),
            "\(message)")
        let refusal = await error { try await host.call("Other", "now") }
        #expect(refusal?.message.hasPrefix(message) == true, "\(String(describing: refusal))")
        await host.host.stop()
    }

    @Test func `a library that takes long to load keeps the host from nothing else, and is known once it is overdue`()
        async throws
    {
        let files = try TestFolder(), gate = files.path + "/gate", begun = files.path + "/begun"
        let slow = try FixtureLibrary.bytes(
            "Hostile", id: "org.example.slow",
            settings: ["entered": #"create_file("begun"); wait_for_file("gate")"#, "begun": begun, "gate": gate])
        try files.write(slow, as: "libSlow.so")
        let host = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(files.path)/libSlow.so"}], "managers": {}}"#)
        let check = Task { await host.host.check() }
        await eventually { FileManager.default.fileExists(atPath: begun) }
        #expect(await host.host.wires.isEmpty, "it answers")
        host.clock.advance(by: .seconds(60))
        let errors = await check.value.map(\.error)
        #expect(errors.first?.causes.first?.code == .callDeadline, "\(errors)")
        let overdue = try await host.host.generations()
        #expect(overdue.map(\.plugin) == ["org.example.slow"] && overdue.map(\.state) == [.failed])
        try files.write([], as: "gate")
        await host.host.stop()
    }
}
