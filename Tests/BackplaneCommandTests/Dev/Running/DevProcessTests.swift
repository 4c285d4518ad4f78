import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneTools

/// How `backplane dev` and the application's process end, and what the other does then.
@Suite(.timeLimit(.minutes(3)))
struct DevProcessTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
        try editions.save(EditionLibrary.manifest)
    }

    private func start() async throws -> DevRun {
        let dev = try DevRun(editions.manifest, with: tool)
        try await dev.next("started")
        try await dev.up()
        return dev
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends the application in order, and that is success`(signal: Int32) async throws {
        try await start().stop(signal)
    }

    @Test func `a killed application is restarted by the next library`() async throws {
        let dev = try await start()
        for edition in [2, 3] {
            #expect(try await dev.call("Edition", "edition") == "\(edition - 1)")
            try dev.killApplication()
            let ending = try await dev.next("hostEnded", DevEvent.Ending.self)
            #expect(!ending.isExpected && ending.how == "signal 9 ended it (Killed)")
            try editions.rename(edition)
            #expect(try await dev.up().managers.map(\.state) == ["ready"])
            #expect(try await dev.call("Edition", "edition") == "\(edition)")
        }
        try editions.rename(4)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["4.0.0"])
        try await dev.stop()
    }
}
