import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Testing

/// A folder of a test, and pools that download to it.
final class TransferFixture: Sendable {
    private let files: TestFolder
    var folder: String { files.path }

    init() throws { files = try TestFolder() }

    /// The path of a file in the folder.
    func path(_ name: String = "whale.epub") -> String { folder + "/" + name }

    /// The names of all files in the folder, hidden ones too.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    func bytes(_ name: String = "whale.epub") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(name))))
    }

    static var network: HTTPPipeline {
        HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)])
    }

    /// Attempts without delays.
    static var options: TransferOptions {
        var options = TransferOptions()
        options.retry.base = .zero
        return options
    }

    func pool(
        _ store: any RecordStore = MemoryRecordStore(), options: TransferOptions = TransferFixture.options,
        by clock: TestClock? = nil
    ) async throws -> TransferPool {
        let retries = clock.map { Retries(clock: $0) } ?? Retries()
        return try await TransferPool(Self.network, store: store, options: options, retries: retries)
    }

    /// A download to the folder.
    func download(
        _ url: String, _ id: String = "whale", to name: String = "whale.epub",
        existing: ExistingFile = .replace, sha256: [UInt8]? = nil, sizeLimit: Int64? = nil
    ) -> Transfer {
        var transfer = Transfer(id, download: url, to: path(name))
        (transfer.existing, transfer.sha256, transfer.sizeLimit) = (existing, sha256, sizeLimit)
        return transfer
    }

    /// Bytes of which no two places look alike: each block begins with its number.
    static func content(_ count: Int, seed: Int = 0) -> [UInt8] {
        let size = 64, rest = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ seed) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + size)
        for number in 0...count / size {
            bytes.append(contentsOf: rest)
            withUnsafeBytes(of: UInt32(number)) { bytes.replaceSubrange(number * size..<number * size + 4, with: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

extension TransferPool {
    /// Waits for the final state of a transfer, and tells its server how many bytes there are.
    @discardableResult
    func end(of id: String = "whale", telling server: FileServer? = nil) async throws -> TransferState {
        var last: TransferState?
        for try await state in states(of: id) {
            server?.clientHas(state.bytes)
            last = state
        }
        return try #require(last)
    }

    /// Waits for a state that meets a condition.
    @discardableResult
    func state(of id: String = "whale", where isReached: (TransferState) -> Bool) async throws -> TransferState {
        for try await state in states(of: id) where isReached(state) { return state }
        Issue.record("there was no such state of \(id)")
        return try await state(of: id)
    }
}
