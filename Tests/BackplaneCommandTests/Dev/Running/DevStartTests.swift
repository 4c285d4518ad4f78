import Backplane
import Foundation
import Testing

@testable import BackplaneTools

/// Applications that do not come up, under `backplane dev`, and others that are there already.
@Suite(.timeLimit(.minutes(3)))
struct DevStartTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
        try editions.save(EditionLibrary.manifest)
    }

    @Test func `an application that hangs at its start is restarted with the fix`() async throws {
        _ = try EditionLibrary.write(1, to: editions.folder, settings: ["edition.starts": "never"])
        let dev = try DevRun(editions.manifest, with: tool)
        try await dev.next("started")
        // Before that it may come up with the library that takes its place.
        var line = try await dev.next("output", DevEvent.Line.self, besides: [])
        // A busy machine is told of.
        while line.text.contains("Swift's thread pool is ") {
            line = try await dev.next("output", DevEvent.Line.self, besides: [])
        }
        #expect(line.text == "waiting")
        try editions.rename(2)
        #expect(try await dev.next("hostEnded", DevEvent.Ending.self).isExpected)
        #expect(try await dev.up().managers.map(\.state) == ["ready"])
        #expect(try await dev.call("Edition", "edition") == "2")
        try await dev.stop()
    }

    @Test func `a package that is not there is an error at once`() async throws {
        let package = try await tool.plain("dev", editions.manifest, "--package", editions.folder)
        #expect(package.status == 64 && package.output == "")
        #expect(
            package.errors
                == "backplane: --package: expected a folder with a Package.swift, found none at \(editions.folder)\n")
    }
}
