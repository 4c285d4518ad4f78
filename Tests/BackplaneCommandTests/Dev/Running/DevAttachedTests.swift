import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneTools

/// `backplane dev --running`: a host that somebody else has started.
@Suite(.timeLimit(.minutes(3)))
struct DevAttachedTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
        try editions.save(EditionLibrary.manifest)
    }

    @Test func `what is saved is swapped into it, and it lives on when it is left`() async throws {
        let host = try await tool.startRun(editions.manifest)
        let dev = try DevRun(editions.manifest, "--running", with: tool)
        try await dev.next("started")
        try await dev.up()
        // What lies there may be newer than what it has.
        try await dev.next("unchanged")
        try await dev.next("applied")
        try editions.rename(2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        #expect(try await dev.call("Edition", "edition") == "2")
        try editions.rename(1, "Late")
        try editions.save(EditionLibrary.manifest("Edition", "Late"))
        try await dev.next("applied")
        #expect(try await dev.call("Late", "edition") == "1")
        dev.process.signal(SIGTERM)
        try await dev.next("stopped")
        #expect(await dev.process.end().status == 0)
        #expect(try await dev.call("Edition", "edition") == "2", "it is still there")
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `a change by another command is told, and own changes are not told twice`() async throws {
        struct Change: Decodable {
            struct Part: Decodable { var report: ChangeReport }
            var swapped, reset: Part?
        }
        let host = try await tool.startRun(editions.manifest)
        let dev = try DevRun(editions.manifest, "--running", with: tool)
        try await dev.next("started")
        try await dev.up()
        try await dev.next("unchanged")
        try await dev.next("applied")
        try editions.rename(2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        #expect(try await tool.plain("rollback", EditionLibrary.id).status == 0)
        let back = try await dev.next("changed", Change.self)
        #expect(back.swapped?.report.plugins.map(\.toVersion) == ["1.0.0"])
        #expect(try await tool.plain("reset", "Edition").status == 0)
        #expect(try await dev.next("changed", Change.self).reset?.report.managers.restarted == ["Edition"])
        try editions.rename(3)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["3.0.0"])
        dev.process.signal(SIGTERM)
        try await dev.next("stopped")
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `one that is not there is an error that says so, and one that ends is waited for`() async throws {
        let dev = try DevRun(editions.manifest, "--running", with: tool)
        try await dev.next("started")
        let refusal = try await dev.refused()
        #expect(refusal.subject == .host && refusal.error.code == .controlUnreachable, "\(refusal.error)")
        let host = try await tool.startRun(editions.manifest)
        try editions.rename(2)
        try await dev.up()
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        try await dev.next("applied")
        host.signal(SIGTERM)
        _ = await host.end()
        try editions.rename(3)
        #expect(try await dev.next("hostEnded", DevEvent.Ending.self).isExpected == false)
        dev.process.signal(SIGTERM)
        #expect(await dev.process.end().status == 0)
    }
}
