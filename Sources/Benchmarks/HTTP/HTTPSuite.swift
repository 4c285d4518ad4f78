import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Glibc
import Synchronization

// The cost of HTTP exchanges, compared with AsyncHTTPClient without Backplane in the same run.
//
// The server is a process of its own on loopback. Figures of small exchanges are the processor time of this process for
// each; those of large bodies are the time for each million bytes.
extension BenchSuite {
    static let http = BenchSuite(name: HTTPRows.suite) { folder in
        let rig = try await HTTPRig(in: folder), rows = HTTPRows(rig: rig)
        let credentials = CredentialRows(folder: folder).rows
        let endpoints = EndpointRows(rig: rig).rows + CacheRows(rig: rig).rows
        return Opened(rows: rows.small + rows.proved + endpoints + credentials + rows.files + rows.memory) {
            await rig.stop()
        }
    }
}

/// The rows of the HTTP suite.
struct HTTPRows {
    static let suite = "http"
    /// The millions of bytes of a large body in a full run.
    private static let large = 1_000
    var rig: HTTPRig

    // MARK: Small exchanges

    /// The rows of exchanges with a response of 1 KB.
    var small: [Row] {
        let rig = rig, url = rig.url(1_024)
        return [1, 16, 128].flatMap { width in
            let bare = "1 KB, bare AsyncHTTPClient, \(width) at once"
            let isBound = width < 128
            return [
                exchanges(bare, width) { try await rig.bare.get(url) },
                exchanges(
                    "1 KB, client, \(width) at once", width, baseline: bare,
                    target: isBound ? .ratio(atMost: 1.15) : nil
                ) { try await rig.client.send(HTTPRequest("GET", url)).body.count },
                exchanges(
                    "1 KB, plugin, \(width) at once", width, baseline: bare,
                    target: isBound ? .ratio(atMost: 1.3) : nil
                ) { try await rig.plugin.http.send(HTTPRequest("GET", url), rig.plugin.begin()).body.count },
            ]
        }
    }

    /// The rows of exchanges with a credential, compared with those without one.
    var proved: [Row] {
        let rig = rig, url = rig.url(1_024)
        var options = HTTPOptions()
        options.credential = "fixed"
        return [
            exchanges(
                "1 KB, bearer credential", 1, baseline: "1 KB, client, 1 at once", target: .ratio(atMost: 1.05)
            ) { [options] in try await rig.client.send(HTTPRequest("GET", url), options).body.count }
        ]
    }

    /// Creates a row for the processor time of an exchange.
    private func exchanges(
        _ name: String, _ width: Int, baseline: String? = nil, target: Target? = nil,
        _ exchange: @escaping @Sendable () async throws -> Int
    ) -> Row {
        Row(name: name, unit: .microseconds, baseline: baseline, target: target) { count in
            let before = ProcessTime.now, width = min(width, count)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<width {
                    let share = count / width + (number < count % width ? 1 : 0)
                    group.addTask {
                        for _ in 0..<share {
                            let bytes = try await exchange()
                            guard bytes == 1_024 else { throw Row.Miscount(row: name, calls: 1_024, result: bytes) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            return Row.Unit.microseconds.figure(
                nanoseconds: (ProcessTime.now - before) / .nanoseconds(1) / Double(count))
        }
    }

    // MARK: Large bodies

    private typealias Transfer = @Sendable (_ bytes: Int) async throws -> Int

    /// The rows of bodies to and from files.
    var files: [Row] {
        let down = "down to a file, bare AsyncHTTPClient", up = "up from a file, bare AsyncHTTPClient"
        let atMost = Target.ratio(atMost: 1 / 0.9)
        return [
            transfer(down) { try await rig.bare.download(rig.url($0), to: path("down")) },
            transfer("down to a file, client", baseline: down, target: atMost, downloading),
            transfer("down to a file, plugin", baseline: down, target: atMost, downloadingInPlugin),
            transfer(up) {
                let path = try file(of: $0, in: rig.folder)
                return try await rig.bare.upload(path, length: $0, to: rig.url(0)) == 204 ? $0 : 0
            },
            transfer("up from a file, client", baseline: up, target: atMost, uploading),
            transfer("up from a file, plugin", baseline: up, target: atMost, uploadingInPlugin),
        ]
    }

    private func path(_ name: String) -> String { rig.folder + "/" + name }

    private var downloading: Transfer {
        { bytes in
            let path = path("down")
            _ = try await rig.client.download(HTTPRequest("GET", rig.url(bytes)), to: path)
            return try size(of: path)
        }
    }

    private var downloadingInPlugin: Transfer {
        { bytes in
            let plugin = rig.plugin
            try await plugin.http.download(HTTPRequest("GET", rig.url(bytes)), to: "down", plugin.begin())
            return try size(of: plugin.folder + "/down")
        }
    }

    private var uploading: Transfer {
        { bytes in
            let request = HTTPRequest("PUT", rig.url(0), body: .file(try file(of: bytes, in: rig.folder)))
            return try await rig.client.send(request).status == 204 ? bytes : 0
        }
    }

    private var uploadingInPlugin: Transfer {
        { bytes in
            let plugin = rig.plugin
            let request = HTTPRequest("PUT", rig.url(0), body: .file(try file(of: bytes, in: plugin.folder)))
            return try await plugin.http.send(request, plugin.begin()).status == 204 ? bytes : 0
        }
    }

    private func size(of path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// Returns the path of a file of this size, which is created when it is first needed.
    private func file(of bytes: Int, in folder: String) throws -> String {
        let path = "\(folder)/up-\(bytes)"
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        try Data().write(to: URL(filePath: path))
        guard truncate(path, bytes) == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// Creates a row for the time per million bytes; an iteration transfers that many.
    private func transfer(
        _ name: String, baseline: String? = nil, target: Target? = nil, _ body: @escaping Transfer
    ) -> Row {
        Row(
            name: name, unit: .microseconds, baseline: baseline, target: target, limit: Self.large,
            count: Self.large, rounds: 5
        ) { count in
            let start = ContinuousClock.now
            try await Self.check(name, body, count)
            let time = (ContinuousClock.now - start) / .nanoseconds(1)
            return Row.Unit.microseconds.figure(nanoseconds: time / Double(count))
        }
    }

    private static func check(_ name: String, _ body: Transfer, _ count: Int) async throws {
        let bytes = try await body(count * 1_000_000)
        guard bytes == count * 1_000_000 else {
            throw Row.Miscount(row: name, calls: count * 1_000_000, result: bytes)
        }
    }

    // MARK: Memory

    /// The rows for the memory use of a large body.
    var memory: [Row] {
        let rig = rig
        return [
            growth("memory of 1 GB down, client", atMost: 32, downloading),
            growth("memory of 1 GB down, plugin", atMost: 32, downloadingInPlugin),
            growth("memory of 1 GB up, client", atMost: 32, uploading),
            growth("memory of 1 GB up, plugin", atMost: 32, uploadingInPlugin),
            growth("memory of a slow consumer", atMost: 4) { bytes in
                let response = try await rig.client.open(HTTPRequest("GET", rig.url(bytes)))
                return try await Self.readSlowly(response.body)
            },
        ]
    }

    /// Reads a body, pausing after each chunk nine times as long as it took to arrive.
    private static func readSlowly(_ body: HTTPBodyStream) async throws -> Int {
        var count = 0, last = ContinuousClock.now
        for try await chunk in body {
            count += chunk.count
            try await Task.sleep(for: min((ContinuousClock.now - last) * 9, .milliseconds(20)))
            last = .now
        }
        return count
    }

    /// The maximum of several figures.
    private final class Peak: Sendable {
        private let figure = Mutex(0.0)

        var value: Double { figure.withLock { $0 } }

        func note(_ next: Double) { figure.withLock { $0 = max($0, next) } }
    }

    /// Creates a row for the growth of this process's memory during a transfer, in millions of bytes.
    private func growth(_ name: String, atMost bound: Double, _ body: @escaping Transfer) -> Row {
        Row(
            name: name, unit: .megabytes, target: .median(atMost: bound), limit: Self.large, count: Self.large,
            rounds: 1
        ) { count in
            let before = try ProcessMemory.privateDirty(), most = Peak()
            let watch = Task {
                while !Task.isCancelled {
                    most.note(try ProcessMemory.privateDirty())
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            defer { watch.cancel() }
            try await Self.check(name, body, count)
            return max(0, most.value - before) / 1e6
        }
    }
}
