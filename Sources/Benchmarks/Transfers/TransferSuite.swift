import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTransfers
import Foundation
import Glibc

// The cost of transfers, compared with AsyncHTTPClient without Backplane, which writes the same files in the same run.
//
// The server is that of the HTTP rows: a process of its own on loopback. Figures of files of 1 MB are the processor
// time of this process for each; those of a large file are the time for each million bytes. What is fetched again after
// a kill is counted by a server in this process, and the host that is killed is a process of its own.
extension BenchSuite {
    static let transfers = BenchSuite(name: TransferRows.suite) { folder in
        let rig = try await HTTPRig(in: folder)
        var options = TransferOptions()
        (options.concurrent, options.concurrentPerHost) = (TransferRows.width, TransferRows.width)
        let pool = try await TransferPool(rig.client, options: options)
        return Opened(rows: TransferRows(rig: rig, pool: pool).all) {
            await pool.stop()
            await rig.stop()
        }
    }
}

/// The rows of the suite of transfers.
struct TransferRows {
    static let suite = "transfers"
    /// The number of concurrent transfers.
    static let width = 64
    /// The number of files of 1 MB, and the size of a large file in millions of bytes, in a full run.
    private static let files = 1_000, large = 1_000
    private static let size = 1_000_000
    let rig: HTTPRig
    let pool: TransferPool

    private typealias Fetch = @Sendable (_ bytes: Int, _ path: String) async throws -> Int

    var all: [Row] {
        let many = "1,000 files of 1 MB, bare AsyncHTTPClient, 64 at once"
        let down = "1 GB down, bare AsyncHTTPClient", up = "1 GB up, bare AsyncHTTPClient"
        let atMost = Target.ratio(atMost: 1 / 0.9)
        return [
            files(many, nil, bare), files("1,000 transfers of 1 MB, 64 at once", many, transfer),
            growth("memory of 1,000 transfers of 1 MB", transfer),
            large(down, nil, nil, bare), large("1 GB down, transfer", down, atMost, transfer),
            large(up, nil, nil, bareUpload), large("1 GB up, transfer", up, atMost, upload),
            killed("fetched again after kill -9, at 20 points of 1 GB"),
        ]
    }

    // MARK: Ways

    private var bare: Fetch {
        { [rig] bytes, path in try await rig.bare.download(rig.url(bytes), to: path) }
    }

    private var transfer: Fetch {
        { [rig, pool] bytes, path in
            let id = "\(path) \(UUID().uuidString)"
            try await pool.begin(Transfer(id, download: rig.url(bytes), to: path))
            return try await Self.end(of: id, in: pool)
        }
    }

    private var bareUpload: Fetch {
        { [rig] bytes, path in
            try Self.make(path, bytes)
            return try await rig.bare.upload(path, length: bytes, to: rig.url(0)) == 204 ? bytes : 0
        }
    }

    private var upload: Fetch {
        { [rig, pool] bytes, path in
            try Self.make(path, bytes)
            let id = "\(path) \(UUID().uuidString)"
            try await pool.begin(Transfer(id, upload: HTTPRequest("PUT", rig.url(0), body: .file(path))))
            return try await Self.end(of: id, in: pool)
        }
    }

    /// Returns the number of bytes after a transfer has succeeded.
    private static func end(of id: String, in pool: TransferPool) async throws -> Int {
        var last: TransferState?
        for try await state in pool.states(of: id) { last = state }
        guard let last, last.phase == .succeeded else {
            throw last?.error ?? BackplaneError(.componentFailed, "the transfer did not end", at: id)
        }
        return Int(last.bytes)
    }

    private static func make(_ path: String, _ bytes: Int) throws {
        guard (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) != bytes else { return }
        try Data().write(to: URL(filePath: path))
        guard truncate(path, bytes) == 0 else { throw POSIXError(.EIO) }
    }

    // MARK: Rows

    /// Fetches files, several concurrently, each to a path that only one fetch uses at a time.
    private static func fetch(_ count: Int, of row: String, in folder: String, _ fetch: @escaping Fetch) async throws {
        let width = min(Self.width, count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<width {
                let share = count / width + (number < count % width ? 1 : 0)
                group.addTask {
                    for _ in 0..<share {
                        let bytes = try await fetch(size, "\(folder)/file-\(number)")
                        guard bytes == size else { throw Row.Miscount(row: row, calls: size, result: bytes) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func files(_ name: String, _ baseline: String?, _ fetch: @escaping Fetch) -> Row {
        let folder = rig.folder
        return Row(
            name: name, unit: .microseconds, baseline: baseline,
            target: baseline == nil ? nil : .ratio(atMost: 1.4), limit: Self.files, count: Self.files, rounds: 5
        ) { count in
            let before = Self.processorTime()
            try await Self.fetch(count, of: name, in: folder, fetch)
            return Row.Unit.microseconds.figure(
                nanoseconds: (Self.processorTime() - before) / .nanoseconds(1) / Double(count))
        }
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Creates a row for the growth of resident memory from the first tenth of the files to the last.
    private func growth(_ name: String, _ fetch: @escaping Fetch) -> Row {
        let folder = rig.folder
        return Row(
            name: name, unit: .megabytes, target: .median(atMost: 16), limit: Self.files, count: Self.files, rounds: 1
        ) { count in
            try await Self.fetch(max(1, count / 10), of: name, in: folder, fetch)
            let before = try ProcessMemory.figures(ofProcess: "self")["Rss"] ?? .nan
            try await Self.fetch(max(1, count - count / 10), of: name, in: folder, fetch)
            let after = try ProcessMemory.figures(ofProcess: "self")["Rss"] ?? .nan
            return max(0, after - before) / 1e6
        }
    }

    /// Creates a row for the data that is fetched again after a download's host was killed, at the worst of random
    /// points.
    private func killed(_ name: String) -> Row {
        let folder = rig.folder + "/killed"
        return Row(
            name: name, unit: .megabytes, target: .median(atMost: 1), summary: .highest, limit: Self.large,
            count: Self.large, rounds: 1
        ) { count in
            Double(try await KilledDownload(length: count * 1_000_000, folder: folder).mostFetchedAgain()) / 1e6
        }
    }

    private func large(_ name: String, _ baseline: String?, _ target: Target?, _ fetch: @escaping Fetch) -> Row {
        let path = rig.folder + "/large"
        return Row(
            name: name, unit: .microseconds, baseline: baseline, target: target, limit: Self.large,
            count: Self.large, rounds: 5
        ) { count in
            let start = ContinuousClock.now
            let bytes = try await fetch(count * 1_000_000, path)
            guard bytes == count * 1_000_000 else {
                throw Row.Miscount(row: name, calls: count * 1_000_000, result: bytes)
            }
            let time = (ContinuousClock.now - start) / .nanoseconds(1)
            return Row.Unit.microseconds.figure(nanoseconds: time / Double(count))
        }
    }
}
