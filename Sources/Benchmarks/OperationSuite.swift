import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneOperations
import BackplaneTransfers
import Foundation

// The cost of graphs, compared with bare tasks, and of transfers, compared with AsyncHTTPClient writing the same files:
// the processor time of this process for each node or file. Every result is checked.
extension BenchSuite {
    static let operations = BenchSuite(name: "operations") { folder in
        let server = try await Child.Server<BenchServer.Ports>("server", in: folder), bare = BareHTTP()
        let client = HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)])
        var options = TransferOptions()
        (options.concurrent, options.concurrentPerHost) = (Files.width, Files.width)
        let pool = try await TransferPool(client, options: options), files = Files(folder: folder)
        let url = server.ports.bytes(Files.size)
        return Opened([
            .calls(
                "node of a graph of 100,000, 2 edges each", by: .processor, rounds: 9, count: 100_000,
                target: .ratio(atMost: 4), beside: "task of a bare group"
            ) {
                try await tasks($0)
            } _: {
                try await nodes($0)
            },
            .calls(
                "transfer of 1 MB, 64 at once", .microseconds, by: .processor, rounds: 5, count: 1_000,
                target: .ratio(atMost: 1.4), beside: "AsyncHTTPClient to a file"
            ) {
                try await files.fetch($0) { try await bare.download(url, to: $0) }
            } _: {
                try await files.fetch($0) { try await transfer(url, to: $0, by: pool) }
            },
        ]) {
            await pool.stop()
            await bare.shutdown()
            server.stop()
        }
    }

    // MARK: Graphs

    private static func tasks(_ count: Int) async throws -> Int {
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { 1 } }
            return await group.reduce(0, &+)
        }
    }

    /// Builds, runs and releases a graph of layers of 100 nodes, each of which adds two values of the layer before.
    ///
    /// - Returns: The number of nodes, or 0 if the result of the graph is wrong.
    private static func nodes(_ count: Int) async throws -> Int {
        let width = 100
        var graph = GraphBuilder("layers"), nodes: [GraphNode<Int>] = [], expected: [Int] = []
        for number in 0..<count {
            guard number >= width else {
                nodes.append(graph.add("node") { 1 })
                expected.append(1)
                continue
            }
            let start = (number / width - 1) * width
            let first = start + number % width, second = start + (number + 1) % width
            nodes.append(graph.add("node", after: nodes[first], nodes[second]) { $0 &+ $1 })
            expected.append(expected[first] &+ expected[second])
        }
        let sum = graph.add("sum", afterAll: Array(nodes.suffix(width))) { $0.reduce(0, &+) }
        let result = try await graph.build(returning: sum).start().value
        return result == expected.suffix(width).reduce(0, &+) ? count : 0
    }

    // MARK: Transfers

    /// Makes a transfer, and returns its number of bytes once it has succeeded.
    private static func transfer(_ url: String, to path: String, by pool: TransferPool) async throws -> Int {
        let id = "\(path) \(UUID().uuidString)"
        try await pool.begin(Transfer(id, download: url, to: path))
        var last: TransferState?
        for try await state in pool.states(of: id) { last = state }
        guard let last, last.phase == .succeeded else {
            throw last?.error ?? BackplaneError(.componentFailed, "the transfer did not end", at: id)
        }
        return Int(last.bytes)
    }
}

/// Files that are fetched concurrently, each to a path that only one fetch uses at a time.
private struct Files: Sendable {
    static let width = 64, size = 1_000_000
    let folder: String

    /// Fetches files, and returns how many have the right size.
    func fetch(
        _ count: Int, _ fetch: @escaping @Sendable (_ path: String) async throws -> Int
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<min(Self.width, count) {
                let share = count / Self.width + (number < count % Self.width ? 1 : 0),
                    path = "\(folder)/file-\(number)"
                group.addTask {
                    var right = 0
                    for _ in 0..<share where try await fetch(path) == Self.size { right += 1 }
                    return right
                }
            }
            return try await group.reduce(0, +)
        }
    }
}
