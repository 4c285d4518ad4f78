#if Engines
import Foundation
import FoundationNetworking
import Testing

/// Reads a stream of server-sent events, one after the other.
final class EventListener: NSObject, URLSessionDataDelegate, Sendable {
    private let pieces: AsyncStream<String>
    private let piece: AsyncStream<String>.Continuation

    override private init() {
        (pieces, piece) = AsyncStream.makeStream(of: String.self)
    }

    /// All events of a server; the stream ends with the response.
    ///
    /// - Parameter last: The id of the last event that is known already.
    static func events(of server: RunningServer, after last: String? = nil) throws -> AsyncStream<String> {
        let listener = EventListener()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: listener, delegateQueue: nil)
        var request = URLRequest(url: try #require(URL(string: server.url + "/v2/events")))
        request.setValue(last, forHTTPHeaderField: "Last-Event-ID")
        session.dataTask(with: request).resume()
        session.finishTasksAndInvalidate()
        return listener.events()
    }

    private func events() -> AsyncStream<String> {
        let (events, event) = AsyncStream.makeStream(of: String.self)
        let pieces = pieces
        Task {
            var text = "", isAlive = false
            for await piece in pieces {
                text += piece
                while let end = text.firstRange(of: "\n\n") {
                    let next = String(text[..<end.lowerBound])
                    text.removeSubrange(..<end.upperBound)
                    // Heartbeats go on while a test is slow; the first is enough.
                    if next.hasPrefix("event: heartbeat") {
                        if isAlive { continue }
                        isAlive = true
                    }
                    event.yield(next)
                }
            }
            event.finish()
        }
        return events
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        piece.yield(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        piece.finish()
    }
}
#endif
