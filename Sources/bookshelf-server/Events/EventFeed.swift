#if Engines
import Foundation
import Synchronization

/// An event of a server-sent event stream (WHATWG HTML, section 9.2).
enum ServerEvent: Hashable, Sendable {
    case lent(Loan)
    case returned(Loan)
    /// A periodic event by which each side detects that the other has gone.
    case heartbeat

    var text: String {
        switch self {
        case .lent(let loan): "event: loan.created\ndata: \(Self.data(of: loan))\n\n"
        case .returned(let loan): "event: loan.returned\ndata: \(Self.data(of: loan))\n\n"
        case .heartbeat: "event: heartbeat\ndata: {}\n\n"
        }
    }

    /// Returns a loan as one line of JSON, as the format requires.
    ///
    /// A loan consists of strings, so encoding does not fail.
    private static func data(of loan: Loan) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(loan)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// A feed that publishes every event to all subscribers.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<ServerEvent>.Continuation] = [:]
        var count = 0
    }
    private let state = Mutex(State())

    /// The number of undelivered events kept for each subscriber; older ones are dropped.
    static let backlog = 64

    /// Returns a stream of all events from now on, beginning with a heartbeat.
    ///
    /// The subscription ends with the stream.
    func subscribe() -> AsyncStream<ServerEvent> {
        let (stream, listener) = AsyncStream.makeStream(
            of: ServerEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
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
