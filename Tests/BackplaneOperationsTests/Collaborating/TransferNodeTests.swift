import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneOperations
import BackplaneOperationsNetwork
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Testing

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
