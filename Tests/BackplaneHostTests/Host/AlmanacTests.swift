import Almanac
import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The example from end to end: a file through the host's HTTP, and what was kept of it when it is gone.
@Suite(.timeLimit(.minutes(10)))
struct AlmanacTests {
    private let folder: TestFolder
    private let landings = [
        Event(day: "07-20", year: 1969, text: "on the Moon"), Event(day: "07-20", year: 1976, text: "on Mars"),
    ]

    init() throws {
        folder = try TestFolder()
        let events = landings.reversed() + [Event(day: "01-01", year: 1801, text: "Ceres")]
        try folder.write(Array(try JSONEncoder().encode(events)), as: "events.json")
    }

    private func makeHost(_ origin: Origin, url: String = "file:events.json") throws -> TestHost {
        try TestHost(
            """
            {"manifestVersion": 1, "plugins": [\(origin.isLoaded ? #"{"library": "Almanac"}"# : "")], "managers": {"Almanac": {
              "className": "AlmanacManager", "dataAccessController": {"className": "AlmanacStore"},
              "communicationController": {"className": "AlmanacCommunication", "services": [
                {"className": "EventFeedService", "propertyName": "feed", "networkServiceConfiguration": {"url": "\(url)"}}]}}}}
            """,
            plugins: origin == .linked ? [AlmanacPlugin.self] : [], in: folder, lanes: origin.lanes)
    }

    private func removeEvents() throws { try FileManager.default.removeItem(atPath: folder.path + "/events.json") }

    /// The file in which the store keeps the events.
    private func storeFile() throws -> URL {
        let files = FileManager.default.enumerator(
            at: URL(filePath: folder.path + "/data"), includingPropertiesForKeys: nil)
        return try #require(files?.compactMap { $0 as? URL }.first { $0.lastPathComponent == "events.json" })
    }

    private func isFromStore(_ sourced: Sourced<[Event]>) -> Bool {
        if case .store(let age) = sourced.source { age >= .zero && age < .seconds(600) } else { false }
    }

    @Test(arguments: Origin.allCases)
    func `events come from the network, the earliest first, and from the store once that fails`(origin: Origin)
        async throws
    {
        let test = try makeHost(origin)
        let almanac: Remote<Almanac> = try await test.host.manager("Almanac")
        #expect(try await almanac.on("07-20") == Sourced(landings, from: .network))
        #expect(try await almanac.on("02-29") == Sourced([], from: .network))

        try removeEvents()
        let kept = try await almanac.on("07-20")
        #expect(kept.value == landings)
        #expect(isFromStore(kept))
        await test.host.stop()

        let next = try makeHost(origin)
        let again = try await next.host.manager("Almanac", as: Almanac.self).on("07-20")
        #expect(again.value == landings && isFromStore(again), "what was kept outlives its host")
        await next.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a text that is not a day is the error that the contract declares`(origin: Origin) async throws {
        let test = try makeHost(origin)
        let almanac: Remote<Almanac> = try await test.host.manager("Almanac")
        let error = await #expect(throws: Almanac.Failure.self) { try await almanac.on("02-30") }
        #expect(error?.text == "02-30")
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a damaged store does no harm while the network answers, and is reported when it does not`(origin: Origin)
        async throws
    {
        let test = try makeHost(origin)
        let almanac: Remote<Almanac> = try await test.host.manager("Almanac")
        _ = try await almanac.on("07-20")
        try Data("{".utf8).write(to: try storeFile())
        #expect(try await almanac.on("07-20").source == .network)

        try Data("{".utf8).write(to: try storeFile())
        try removeEvents()
        let error = await error { try await almanac.on("07-20") }
        #expect(error?.failure?.code == "almanac.feed-unusable")
        let warning = try #require(test.log.records.first { $0.level == .warning && $0.source == "Almanac" })
        #expect(warning.metadata["error"]?.contains("almanac.store-damaged") == true)
        #expect(warning.metadata["error"]?.contains("events.json") == true, "it says which file")
        await test.host.stop()
    }
}
