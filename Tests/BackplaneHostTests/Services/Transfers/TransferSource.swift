import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Synchronization

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
