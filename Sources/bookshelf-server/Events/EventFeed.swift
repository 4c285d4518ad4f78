#if Engines
import Foundation
import Synchronization

/// One event, as a stream of server-sent events writes it (WHATWG HTML, 9.2).
enum ServerEvent: Hashable, Sendable {
    case lent(Loan)
    case returned(Loan)
    /// Tells a client that the stream is alive, and the server that the client is.
    case heartbeat

    var text: String {
        switch self {
        case .lent(let loan): "event: loan.created\ndata: \(Self.data(of: loan))\n\n"
        case .returned(let loan): "event: loan.returned\ndata: \(Self.data(of: loan))\n\n"
        case .heartbeat: "event: heartbeat\ndata: {}\n\n"
        }
    }

    /// One line, as the format wants it. A loan is texts, which always encode.
    private static func data(of loan: Loan) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(loan)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Hands every event to everyone who listens.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<ServerEvent>.Continuation] = [:]
        var count = 0
    }
    private let state = Mutex(State())

    /// Of a listener that does not keep up, the oldest events beyond this are dropped.
    static let backlog = 64

    /// All events from now on, after a first heartbeat; ending the stream ends the subscription.
    func subscribe() -> AsyncStream<ServerEvent> {
        let (stream, listener) = AsyncStream.makeStream(of: ServerEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let number = state.withLock { state in
            state.count += 1
            state.listeners[state.count] = listener
            return state.count
        }
        listener.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        listener.yield(.heartbeat)
        return stream
    }

    func publish(_ event: ServerEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }
}
#endif
