import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Synchronization
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
        let report = try await test.host.swap(linked: [DownloaderPlugin.edition(version)])
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
        let unknown = await error { try await stranger.cancel("text/whale") }
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

/// A server of one file in memory, whose second half it keeps back until it is opened.
final class TransferSource: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [AsyncStream<[UInt8]>.Continuation] = []
    }
    let content: [UInt8]
    private let state = Mutex(State())

    init(_ count: Int = 300_000) { content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) } }

    /// The number of bytes that are sent before it is opened.
    var half: Int { content.count / 2 }

    /// The values of `Range` of all requests, empty where there was none.
    let ranges = Recording<String>()

    /// Sends the rest of every response.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for stream in waiting {
            stream.yield(Array(content[half...]))
            stream.finish()
        }
    }

    var executor: MemoryExecutor {
        MemoryExecutor { [self] request, _ in
            let range = request.headers["Range"] ?? ""
            let from = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            let (chunks, stream) = AsyncStream.makeStream(of: [UInt8].self)
            if from < half { stream.yield(Array(content[from..<half])) }
            ranges.add(range)
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(stream) }
                return state.isOpen
            }
            if isOpen {
                stream.yield(Array(content[max(from, half)...]))
                stream.finish()
            }
            var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(content.count - from)"]
            if from > 0 { headers["Content-Range"] = "bytes \(from)-\(content.count - 1)/\(content.count)" }
            return HTTPStreamedResponse(
                status: from > 0 ? 206 : 200, headers: headers,
                body: try HTTPBody.stream(chunks, length: Int64(content.count - from)).open())
        }
    }
}

/// A manager that has its network service download files, and passes their progress on.
struct Downloader: Contract {
    static let version: Version = "1.0.0"
    /// Begins the download of a URL under the id that is its last part.
    let begin = AsyncMethod<String, TransferState>()
    /// The states of a transfer.
    let states = StreamMethod<String, TransferState>()
    let cancel = AsyncMethod<String, Nothing>()
    /// Keeps the finished file of a transfer.
    let keep = AsyncMethod<String, String>()
    let signIn = AsyncMethod<String, Nothing>()
    /// Follows the states of a transfer in a task of its own, whose end is in ``DownloaderPlugin/ends``.
    let follow = AsyncMethod<String, Nothing>()
}

struct DownloaderFiles: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<StoredFile, String>()
}

/// The plugins that the classes belong to.
protocol DownloaderEdition: Sendable {
    /// The end of the classes' names.
    static var suffix: String { get }
}

private enum FirstDownloader: DownloaderEdition { static let suffix = "" }

private enum OtherDownloader: DownloaderEdition { static let suffix = "Other" }

enum DownloaderPlugin {
    /// The ends of the tasks that follow states: the code of the error, or nothing.
    static let ends = Recording<String>()

    static func edition(_ version: Version) -> LinkedPlugin {
        plugin("org.backplane.tests.downloader", version, FirstDownloader.self)
    }

    /// Another plugin with classes that do the same.
    static let other = plugin("org.backplane.tests.other", "1.0.0", OtherDownloader.self)

    private static func plugin<E: DownloaderEdition>(_ id: String, _ version: Version, _: E.Type) -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) { registrar in
            registrar.add(DownloaderManager<E>.self)
            registrar.add(DownloaderCommunication<E>.self)
            registrar.add(DownloaderStore<E>.self)
        }
    }

    /// The definition of a manager.
    static func manager(_ name: String, edition: String = "", credential: String? = nil) -> String {
        let configuration = credential.map { #", "configuration": {"credential": "\#($0)"}"# } ?? ""
        return """
            "\(name)": {"className": "DownloaderManager\(edition)",
              "dataAccessController": {"className": "DownloaderStore\(edition)", "namespace": "\(name)"},
              "communicationController": {
                "className": "DownloaderCommunication\(edition)", "namespace": "\(name)"\(configuration)}}
            """
    }
}

private final class DownloaderManager<E: DownloaderEdition>: Manager {
    typealias Provides = Downloader
    static var className: String { "DownloaderManager\(E.suffix)" }
    struct Wires: Wiring {
        let communicationController: Wire<Downloader>
        let dataAccessController: Wire<DownloaderFiles>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { downloader, url, call in
            try await downloader.wires.communicationController.begin(url, call)
        }
        table.async(\.cancel) { downloader, id, call in
            try await downloader.wires.communicationController.cancel(id, call)
        }
        table.async(\.signIn) { downloader, name, call in
            try await downloader.wires.communicationController.signIn(name, call)
        }
        table.async(\.follow) { downloader, id, call in
            try await downloader.wires.communicationController.follow(id, call)
        }
        table.stream(\.states) { downloader, id, elements, call in
            try await elements.send(contentsOf: downloader.wires.communicationController.states(id, call))
        }
        table.async(\.keep) { downloader, id, call in
            for try await state in downloader.wires.communicationController.states(id, call) where state.phase.isFinal {
                guard let file = state.storedFile else { break }
                return try await downloader.wires.dataAccessController.keep(file, call)
            }
            throw BackplaneError(.componentFailed, "there is no file")
        }
    }
}

private final class DownloaderCommunication<E: DownloaderEdition>: CommunicationController {
    typealias Provides = Downloader
    static var className: String { "DownloaderCommunication\(E.suffix)" }
    struct Configuration: Decodable, Sendable {
        var credential: String?
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { downloader, url, _ in
            let name = url.split(separator: "/").last.map(String.init) ?? ""
            var transfer = Transfer("text/\(name)", download: url, to: name)
            if let credential = downloader.context.configuration.credential {
                (transfer.credential, transfer.account) = (credential, "ann")
            }
            return try await downloader.context.transfers.begin(transfer)
        }
        table.stream(\.states) { downloader, id, elements, _ in
            try await elements.send(contentsOf: downloader.context.transfers.states(of: id))
        }
        table.async(\.cancel) { downloader, id, _ in
            try await downloader.context.transfers.cancel(id)
            return Nothing()
        }
        table.async(\.keep) { _, _, _ in "" }
        table.async(\.signIn) { downloader, name, call in
            try await downloader.context.http.signIn(
                "library", as: name, with: ["user": name, "password": "rope"], call)
            return Nothing()
        }
        table.async(\.follow) { downloader, id, _ in
            let states = downloader.context.transfers.states(of: id)
            Task {
                var end = ""
                do { for try await _ in states {} } catch { end = BackplaneError(thrown: error).code.rawValue }
                DownloaderPlugin.ends.add(end)
            }
            return Nothing()
        }
    }
}

private final class DownloaderStore<E: DownloaderEdition>: DataAccessController {
    typealias Provides = DownloaderFiles
    static var className: String { "DownloaderStore\(E.suffix)" }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, file, _ in try store.context.adopt(file, as: "kept") }
    }
}
