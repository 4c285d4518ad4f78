import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneTools

/// Libraries that are replaced in every way there is while `backplane dev` watches them.
@Suite(.timeLimit(.minutes(3)))
struct DevLibraryTests {
    private let tool: Tool
    private let editions: DevEditions
    private let dev: DevRun

    init() async throws {
        tool = try Tool()
        editions = try DevEditions("Edition", "Sentinel", with: tool)
        try editions.save(EditionLibrary.manifest("Edition", "Sentinel"))
        dev = try DevRun(editions.manifest, with: tool)
        let beginning = try await dev.next("started", DevEvent.Beginning.self)
        #expect(beginning.packages.isEmpty)
        #expect(beginning.libraries.sorted() == [editions.library("Edition"), editions.library("Sentinel")])
        #expect(try await dev.up().managers.map(\.state) == ["ready", "ready"])
    }

    private func expectSwap(
        of plugin: String = EditionLibrary.id, to edition: Int, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await dev.swapped()
        #expect(report.plugins.map(\.plugin) == [plugin], sourceLocation: location)
        #expect(report.plugins.map(\.toVersion.major) == [edition], sourceLocation: location)
    }

    /// Another library is replaced, and that is the next that happens: what was done before was no reason for anything.
    private func expectNothingElse(_ edition: Int, _ location: SourceLocation = #_sourceLocation) async throws {
        try editions.rename(edition, "Sentinel")
        try await expectSwap(of: "org.example.sentinel", to: edition, location)
    }

    @Test func `a library becomes active once it is complete, however it got there`() async throws {
        #expect(try await dev.call("Edition", "edition") == "1")
        try editions.rename(2)
        try await expectSwap(to: 2)
        #expect(try await dev.call("Edition", "edition") == "2")

        // Written in place, in pieces: half of it is nothing yet.
        let contents = try Data(contentsOf: URL(filePath: editions.write(3))),
            file = try editions.overwrite("Edition")
        try file.write(contentsOf: contents.prefix(contents.count / 2))
        try await expectNothingElse(2)
        #expect(try await dev.call("Edition", "edition") == "2")
        try file.write(contentsOf: contents.dropFirst(contents.count / 2))
        try file.close()
        try await expectSwap(to: 3)
        #expect(try await dev.call("Edition", "edition") == "3")

        // Removed, it goes on; made again, perhaps with the same inode, it is new.
        try editions.remove("Edition")
        try await expectNothingElse(3)
        #expect(try await dev.call("Edition", "edition") == "3")
        try editions.rename(4)
        try await expectSwap(to: 4)
        let fifth = try Data(contentsOf: URL(filePath: editions.write(5)))
        try editions.remove("Edition")
        let new = try editions.overwrite("Edition")
        try new.write(contentsOf: fifth)
        try new.close()
        try await expectSwap(to: 5)
        #expect(try await dev.call("Edition", "edition") == "5")
        try await dev.stop()
    }

    @Test func `a damaged library is refused with the reason, the old one keeps running, and a good one is swapped in`()
        async throws
    {
        let contents = try Data(contentsOf: URL(filePath: editions.write(2)))
        for damaged in [contents.prefix(contents.count / 2), contents.prefix(100), Data(), Data("no library\n".utf8)] {
            try editions.replace(editions.library("Edition"), with: damaged)
            let refusal = try await dev.refused()
            #expect(refusal.subject == .swap)
            #expect(refusal.error.location == editions.library("Edition"), "\(refusal.error)")
            #expect(try await dev.call("Edition", "edition") == "1")
        }
        let file = try editions.overwrite("Edition")
        try file.write(contentsOf: contents.dropLast(1_000))
        try file.close()
        #expect(try await dev.refused().subject == .swap, "the same in place")
        try editions.rename(2)
        try await expectSwap(to: 2)
        #expect(try await dev.call("Edition", "edition") == "2")
        try await dev.stop()
    }
}
