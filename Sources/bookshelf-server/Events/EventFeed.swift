#if Engines
import Foundation
import Synchronization

/// An event of a server-sent event stream (WHATWG HTML, section 9.2).
enum ServerEvent: Hashable, Sendable {
    case lent(Loan)
    case returned(Loan)
    /// A periodic event by which each side detects that the other has disconnected.
    case heartbeat
    /// The first event for a client whose last event is unknown, so that it may have missed some.
    case missed

    var text: String {
        switch self {
        case .lent(let loan): "event: loan.created\ndata: \(Self.data(of: loan))\n\n"
        case .returned(let loan): "event: loan.returned\ndata: \(Self.data(of: loan))\n\n"
        case .heartbeat: "event: heartbeat\ndata: {}\n\n"
        case .missed: "event: missed\ndata: {}\n\n"
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

/// An event as it is sent: with an id, if it can be replayed.
struct PublishedEvent: Sendable {
    var id: String?
    var event: ServerEvent

    var text: String { (id.map { "id: \($0)\n" } ?? "") + event.text }
}

/// A feed that publishes every event to all subscribers, and replays the latest ones to clients that reconnect.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<PublishedEvent>.Continuation] = [:]
        var count = 0
        /// The number of the last event with an id.
        var last = 0
        /// The latest events with ids; the last one has the number ``last``.
        var history: [PublishedEvent] = []
    }
    private let state = Mutex(State())
    /// The part of all ids that is different in each run of the server, because numbers start over.
    private let run = String(UInt64.random(in: .min ... .max), radix: 36)

    /// The number of undelivered events kept for each subscriber; older ones are dropped.
    static let backlog = 64
    /// The number of events that are kept for replay.
    static let historyLimit = 1_000

    /// Returns a stream of events, beginning with a heartbeat.
    ///
    /// The subscription ends with the stream.
    ///
    /// - Parameter last: The id of the last event that the subscriber has; `nil` to receive only new events. Later
    ///   events are replayed, or ``ServerEvent/missed`` reports that they cannot be.
    func subscribe(after last: String? = nil) -> AsyncStream<PublishedEvent> {
        state.withLock { state in
            let replayed = last.map { replay(after: $0, state) } ?? []
            let (stream, listener) = AsyncStream.makeStream(
                of: PublishedEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog + replayed.count))
            state.count += 1
            let number = state.count
            state.listeners[number] = listener
            listener.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
            listener.yield(PublishedEvent(event: .heartbeat))
            for event in replayed { listener.yield(event) }
            return stream
        }
    }

    /// Returns the events after the one with an id, or ``ServerEvent/missed`` if some may no longer be available.
    private func replay(after last: String, _ state: State) -> [PublishedEvent] {
        guard let dash = last.lastIndex(of: "-"), last[..<dash] == run, let number = Int(last[dash...].dropFirst()),
            (state.last - state.history.count...state.last).contains(number)
        else { return [PublishedEvent(event: .missed)] }
        return Array(state.history.suffix(state.last - number))
    }

    /// Publishes an event; all but heartbeats can be replayed.
    func publish(_ event: ServerEvent) {
        state.withLock { state in
            var published = PublishedEvent(event: event)
            if event != .heartbeat {
                state.last += 1
                published.id = "\(run)-\(state.last)"
                state.history.append(published)
                if state.history.count > Self.historyLimit { state.history.removeFirst() }
            }
            for listener in state.listeners.values { listener.yield(published) }
        }
    }
}
#endif
