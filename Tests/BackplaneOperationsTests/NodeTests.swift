import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneOperationsNetwork
import BackplaneTestKit
import BackplaneTransfers
import BackplaneURLSession
import Foundation
import Synchronization
import Testing

@testable import BackplaneOperations

/// Width, priorities, time limits and further attempts.
@Suite(.timeLimit(.minutes(2)))
struct NodeOptionsTests {
    @Test(arguments: [1, 3])
    func `no more nodes run at once than the width allows`(width: Int) async throws {
        let running = Mutex((now: 0, most: 0))
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        for number in 0..<20 {
            _ = graph.add("book \(number)") {
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                try await gate.pass()
                running.withLock { $0.now -= 1 }
            }
        }
        let run = try graph.build().start(width: width)
        try await gate.arrivals(width)
        gate.open()
        try await run.value
        #expect(running.withLock { $0.most } == width)
    }

    @Test func `nodes begin by priority`() async throws {
        let log = Recording<String>(), gate = TestGate()
        var graph = GraphBuilder("shelf")
        let first = graph.add("first", options: NodeOptions(priority: .urgent)) { try await gate.pass() }
        _ = graph.add("none", after: first) { log.add("none") }
        for priority in NodePriority.allCases {
            _ = graph.add("\(priority)", after: first, options: NodeOptions(priority: priority)) {
                log.add("\(priority)")
            }
        }
        let run = try graph.build().start(width: 1)
        try await gate.arrivals()
        gate.open()
        try await run.value
        #expect(log.all == ["urgent", "high", "none", "normal", "low", "background"])
    }

    @Test func `a node that never returns fails after its time limit, and is cancelled`() async throws {
        let told = TestGate(), release = TestGate()
        var graph = GraphBuilder("shelf")
        let stuck = graph.add("stuck", options: NodeOptions(timeout: .milliseconds(20))) {
            await withTaskCancellationHandler {
                await Task { try? await release.pass() }.value
            } onCancel: {
                told.open()
            }
        }
        let next = graph.add("next", after: stuck.always) { $0 }
        let run = try graph.build(returning: next).start(width: 1)
        guard case .failure(let error) = try await run.value else { return #expect(Bool(false)) }
        #expect(error.code == .operationTimeout)
        #expect(error.message == "`stuck` did not return within 0.02 seconds, its time limit")
        try await told.pass()
        release.open()
        await run.drained()
    }

    @Test func `a node is run again, and the last error counts`() async throws {
        let attempts = Mutex(0), log = Recording<Int>()
        var graph = GraphBuilder("shelf")
        let options = NodeOptions(retry: NodeRetry(attempts: 3, base: .milliseconds(1)))
        let books = graph.add("books", options: options) {
            let attempt = attempts.withLock {
                $0 += 1
                return $0
            }
            guard attempt == 3 else { throw Unavailable() }
            return attempt
        }
        graph.onSuccess(of: books) { _, status in log.add(status.attempt) }
        let broken = graph.add("broken", options: options) { () throws -> Void in throw Unavailable() }
        graph.onFailure(of: broken) { _, status in log.add(10 + status.attempt) }
        let hopeless = NodeOptions(retry: NodeRetry(attempts: 3) { $0.code != .componentFailed })
        let once = graph.add("once", options: hopeless) { () throws -> Void in throw Unavailable() }
        graph.onFailure(of: once) { _, status in log.add(20 + status.attempt) }
        let finish = graph.add("finish", after: books, broken.always, once.always) { books, _, _ in books }
        let run = try graph.build(returning: finish).start()
        #expect(try await run.value == 3)
        #expect(Set(log.all) == [3, 13, 21])
    }

    @Test func `an attempt that was given up does not disturb the next one`() async throws {
        let attempts = Mutex(0), release = TestGate(), first = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add(
            "books",
            // Later attempts may be given up, too, on a busy machine.
            options: NodeOptions(
                timeout: .milliseconds(50),
                retry: NodeRetry(attempts: 1_000, base: .milliseconds(1), limit: .milliseconds(1)))
        ) {
            let attempt = attempts.withLock {
                $0 += 1
                return $0
            }
            if attempt == 1 {
                await Task { try? await release.pass() }.value
                first.open()
            }
            return attempt
        }
        let held = graph.add("held", after: books) { books in
            release.open()
            try await first.pass()
            return books
        }
        let run = try graph.build(returning: held).start()
        let value = try await run.value
        #expect(value > 1)
        await run.drained()
        #expect(try await run.outcome(of: books).get() == value)
    }

    @Test func `delays double up to their bound`() {
        let retry = NodeRetry(attempts: 9, base: .seconds(1), limit: .seconds(5))
        #expect(
            [1, 2, 3, 4, 60_000].map { retry.delay(after: $0, random: 1) } == [1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(retry.delay(after: 3, random: 0) == .zero)
    }
}

/// Nodes that load endpoints.
@Suite(.timeLimit(.minutes(2)))
struct EndpointNodeTests {
    @Test func `a program loads endpoints without a call, and handlers are given the status of the response`()
        async throws
    {
        let server = try TestServer { request, connection in
            connection.answer(request.target == "/books" ? "201 Created" : "404 Not Found", body: Array("[]".utf8))
        }
        let http = HTTPClient([URLSessionExecutor()]).relative(to: server.url()), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.load("books", Endpoint<[String]>("GET", "books"), on: http)
        graph.onSuccess(of: books) { books, status in log.add("\(books.count) \(status.code ?? 0)") }
        let missing = graph.load("missing", after: books, on: http) { _ in
            Endpoint<[String]>("GET", "missing")
        }
        graph.onFailure(of: missing) { error, status in log.add("\(error.code) \(status.code ?? 0)") }
        _ = try await graph.build(returning: books).start().value
        #expect(log.all == ["0 201", "network.status 404"])
    }
}

/// Nodes that are transfers: they stand still while they are paused.
@Suite(.timeLimit(.minutes(2)))
struct TransferNodeTests {
    /// A file that is sent to its middle, and to its end once a gate is open.
    private struct Source {
        let gate = TestGate()
        let ranges = Recording<String>()

        var network: HTTPPipeline {
            HTTPPipeline([
                MemoryExecutor { [gate, ranges] request, _ in
                    ranges.add(request.headers["Range"] ?? "")
                    let from = request.headers["Range"] == nil ? 0 : 100_000
                    let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                        if from == 0 { stream.yield([UInt8](repeating: 1, count: 100_000)) }
                        let rest = Task {
                            guard (try? await gate.pass()) != nil else { return }
                            stream.yield([UInt8](repeating: 2, count: 100_000))
                            stream.finish()
                        }
                        stream.onTermination = { _ in rest.cancel() }
                    }
                    var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(200_000 - from)"]
                    if from > 0 { headers["Content-Range"] = "bytes 100000-199999/200000" }
                    return HTTPStreamedResponse(
                        status: from > 0 ? 206 : 200, headers: headers,
                        body: try HTTPBody.stream(chunks, length: Int64(200_000 - from)).open())
                }
            ])
        }
    }

    private func whale(in folder: String) -> Transfer {
        Transfer("text/whale", download: "http://books.test/whale", to: folder + "/whale")
    }

    @Test func `a node that is paused suspends its transfer, which then goes on where it ended`() async throws {
        let source = Source(), files = try TestFolder(), folder = files.path,
            pool = try await TransferPool(source.network)
        let arrived = TestGate()
        var graph = GraphBuilder("text")
        let text = graph.transfer("text", whale(in: folder), on: pool.client) { state in
            if state.bytes == 100_000 { arrived.open() }
        }
        let size = graph.add("size", after: text) { $0.storedFile?.size }
        let run = try graph.build(returning: size).start()
        try await arrived.pass()
        try run.pause(.node(text))
        for await event in run.events where event.name == "text" && event.state == .paused { break }
        #expect(try await pool.state(of: "text/whale").phase == .paused)
        source.gate.open()
        run.resume()
        #expect(try await run.value == 200_000)
        #expect(source.ranges.all == ["", "bytes=100000-"])
        await pool.stop()
    }

    @Test func `a node that is cancelled cancels its transfer`() async throws {
        let source = Source(), files = try TestFolder(), folder = files.path,
            pool = try await TransferPool(source.network)
        let arrived = TestGate()
        var graph = GraphBuilder("text")
        let text = graph.transfer("text", whale(in: folder), on: pool.client) { state in
            if state.bytes == 100_000 { arrived.open() }
        }
        let run = try graph.build(returning: text).start()
        try await arrived.pass()
        run.cancel()
        await run.drained()
        #expect(try await pool.state(of: "text/whale").phase == .cancelled)
        source.gate.open()
        await pool.stop()
    }
}
