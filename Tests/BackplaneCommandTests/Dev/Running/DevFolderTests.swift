import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneDev

/// Folders of libraries that move, and links that come to point elsewhere, under `backplane dev`.
@Suite(.timeLimit(.minutes(3)))
struct DevFolderTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions(with: tool)
    }

    private func makeFolder(_ name: String) throws -> String {
        let path = editions.folder + "/" + name
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func manifest(_ library: String) -> String {
        #"{"manifestVersion": 1, "plugins": [{"library": "\#(library)"}], "managers": {"Edition": {"className": "Edition"}}}"#
    }

    @Test func `a folder that moves away takes nothing with it, and is looked at when it is back`() async throws {
        let folder = try makeFolder("libraries"), elsewhere = editions.folder + "/elsewhere"
        try editions.rename(1, to: folder + "/libEdition.so")
        try editions.save(manifest("libraries/libEdition.so"))
        let dev = try DevRun(editions.manifest, with: tool)
        try await dev.next("started")
        try await dev.up()
        try FileManager.default.moveItem(atPath: folder, toPath: elsewhere)
        #expect(try await dev.call("Edition", "edition") == "1")
        try editions.rename(2, to: elsewhere + "/libEdition.so")
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        try editions.rename(3, to: folder + "/libEdition.so")
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["3.0.0"], "it is watched again")
        #expect(try await dev.call("Edition", "edition") == "3")
        try await dev.stop()
    }

    @Test func `a link on the way to a library that comes to point elsewhere brings what is there`() async throws {
        let link = editions.folder + "/current"
        for edition in [1, 2] { try editions.rename(edition, to: makeFolder("release\(edition)") + "/libEdition.so") }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "release1")
        try editions.save(manifest("current/libEdition.so"))
        let dev = try DevRun(editions.manifest, with: tool)
        try await dev.next("started")
        try await dev.up()
        #expect(try await dev.call("Edition", "edition") == "1")

        // As `ln -sfn` and deployments do it.
        try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: "release2")
        try #require(rename(link + ".new", link) == 0)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        try editions.rename(3, to: editions.folder + "/release2/libEdition.so")
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["3.0.0"])
        #expect(try await dev.call("Edition", "edition") == "3")
        try await dev.stop()
    }
}
