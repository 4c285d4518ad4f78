import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The transfers of a host's components: with progress, through swaps and restarts.
@Suite(.timeLimit(.minutes(5)))
struct HostTransfersTests {
    private let source = TransferSource()

    private func host(
        _ managers: String = DownloaderPlugin.manager("Downloader"), network: String = "{}",
        linked: [LinkedPlugin] = [DownloaderPlugin.edition("1.0.0")], in folder: TestFolder? = nil,
        store: any RecordStore = MemoryRecordStore(), lanes: LaneRule = .fastest
    ) throws -> TestHost {
        try TestHost(
            #"{"manifestVersion": 1, "network": \#(network), "managers": {\#(managers)}}"#, linked: linked, in: folder,
            lanes: lanes
        ) { options in
            options.executors = [source.executor]
            options.openStore = { _, _, _ in store }
        }
    }

    private func swap(_ test: TestHost, to version: Version) async throws {
        let coordinator = test.host.coordinator
        let report = try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [DownloaderPlugin.edition(version)], .patient)
        }
        #expect(report.outcome == .changed)
    }

    /// Reads states until one meets a condition.
    private func state(
        _ downloader: Remote<Downloader>, _ id: String = "text/whale", where isReached: (TransferState) -> Bool
    ) async throws -> TransferState {
        for try await state in downloader.states(id) where isReached(state) { return state }
        throw BackplaneError(.componentFailed, "the states ended before that")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a manager passes on the progress of a download, whose file is adopted`(lanes: LaneRule) async throws {
        let test = try host(lanes: lanes), downloader: Remote<Downloader> = try await test.host.manager("Downloader")
        let early = Task.immediate { try await state(downloader) { $0.phase.isFinal } }  // before it begins
        let begun = try await downloader.begin("http://books.test/whale")
        #expect(begun.id == "text/whale" && begun.owner == "org.backplane.tests.downloader" && !begun.phase.isFinal)
        let half = try await state(downloader) { $0.bytes == source.half }
        #expect(half.phase == .running && half.progress == 0.5)
        source.open()
        let last = try await early.value
        #expect(
            last.phase == .succeeded && last.progress == 1 && last.file?.hasSuffix("/@network/Downloader/whale") == true
        )
        let path = try await downloader.keep("text/whale")
        let kept = try Data(contentsOf: URL(filePath: path))
        #expect(path.hasSuffix("/kept") && Array(kept) == source.content)
        await test.host.stop()
    }

    @Test func `a transfer is untouched by 200 swaps of the plugin that began it`() async throws {
        let test = try host(), downloader: Remote<Downloader> = try await test.host.manager("Downloader")
        _ = try await downloader.begin("http://books.test/whale")
        _ = try await state(downloader) { $0.bytes == source.half }
        for number in 1...200 { try await swap(test, to: Version(1, 0, number)) }
        source.open()
        let last = try await state(downloader) { $0.phase.isFinal }
        #expect(last.phase == .succeeded && last.restart == nil)
        #expect(source.ranges.all == [""], "there was one request")
        await test.host.stop()
    }

    @Test func `the states that a component follows end with it, and the transfer continues`() async throws {
        let test = try host(), downloader: Remote<Downloader> = try await test.host.manager("Downloader")
        _ = try await downloader.begin("http://books.test/whale")
        _ = try await state(downloader) { $0.bytes == source.half }
        _ = try await downloader.follow("text/whale")
        try await swap(test, to: "1.0.1")
        #expect(try await DownloaderPlugin.ends.first(1) == ["call.retired"])
        source.open()
        #expect(try await state(downloader) { $0.phase.isFinal }.phase == .succeeded)
        #expect(source.ranges.all == [""])
        await test.host.stop()
    }

    @Test func `plugins share neither ids nor transfers`() async throws {
        source.open()
        let other = "org.backplane.tests.other"
        let test = try host(
            DownloaderPlugin.manager("Downloader") + "," + DownloaderPlugin.manager("Other", edition: "Other"),
            linked: [DownloaderPlugin.edition("1.0.0"), DownloaderPlugin.other])
        let downloader: Remote<Downloader> = try await test.host.manager("Downloader")
        let stranger: Remote<Downloader> = try await test.host.manager("Other")
        _ = try await downloader.begin("http://books.test/whale")
        _ = try await state(downloader) { $0.phase.isFinal }
        let unknown = await error { try await stranger.change("cancel text/whale") }
        #expect(unknown?.code == .transferUnknown)
        #expect(try await stranger.begin("http://books.test/whale").owner == other)
        let all = try await test.host.transferPool().transfers().states.map(\.id)
        #expect(all == ["org.backplane.tests.downloader/text/whale", "\(other)/text/whale"])
        await test.host.stop()
    }

    @Test(arguments: [false, true])
    func `a transfer whose account is not signed in waits for it, and says so`(byProgram: Bool) async throws {
        source.open()
        let test = try host(
            DownloaderPlugin.manager("Downloader", credential: "library"),
            network: #"{"credentials": {"library": {"type": "basic", "hosts": ["books.test"]}}}"#)
        let downloader: Remote<Downloader> = try await test.host.manager("Downloader")
        _ = try await downloader.begin("http://books.test/whale")
        let waiting = try await state(downloader) { $0.phase == .paused }
        #expect(waiting.error?.code == .transferCredentials)
        #expect(waiting.error?.message.contains("account `ann` of the credential `library`") == true)
        #expect(source.ranges.all == [])
        if byProgram {
            try await test.host.network.signIn("library", as: "ann", with: ["user": "ann", "password": "a"])
        } else {
            _ = try await downloader.signIn("ann")
        }
        #expect(try await state(downloader) { $0.phase.isFinal }.phase == .succeeded)
        await test.host.stop()
    }
}
