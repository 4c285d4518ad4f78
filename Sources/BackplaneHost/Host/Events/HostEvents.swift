import Backplane
import Synchronization

/// The events of a host from the creation of the sequence until the host has stopped.
///
/// ```swift
/// for await event in host.events {
///     if case .failed(let operation, let error) = event.kind { page("\(operation): \(error)") }
/// }
/// ```
///
/// A listener may fall 1,000 events behind. It then misses further events, and receives their number
/// (``HostEvent/Kind/missed(_:)``); the host never waits for it.
public struct HostEvents: AsyncSequence, Sendable {
    private let stream: AsyncStream<HostEvent>

    fileprivate init(_ stream: AsyncStream<HostEvent>) { self.stream = stream }

    /// Returns the iterator over the events; several iterators share them.
    public func makeAsyncIterator() -> Iterator { Iterator(iterator: stream.makeAsyncIterator()) }

    /// The reader of events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncStream<HostEvent>.Iterator

        /// Returns the next event when it is available; `nil` after the host has stopped.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> HostEvent? {
            await iterator.next(isolation: actor)
        }
    }
}

/// The listeners to the events of a host.
final class HostEventFeed: Sendable {
    private struct Listener {
        let continuation: AsyncStream<HostEvent>.Continuation
        /// The number of events that the listener has missed since the last one in its buffer.
        var missed = 0

        mutating func hear(_ event: HostEvent) {
            if missed > 0 {
                guard case .enqueued = continuation.yield(HostEvent(time: event.time, .missed(count: missed))) else {
                    missed += 1
                    return
                }
                missed = 0
            }
            if case .dropped = continuation.yield(event) { missed += 1 }
        }
    }
    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var last: UInt64 = 0
        var hasEnded = false
    }
    private let state = Mutex(State())

    /// The maximum number of unread events of a listener.
    static let limit = 1_000

    /// Begins to listen.
    func listen() -> HostEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HostEvent.self, bufferingPolicy: .bufferingOldest(Self.limit))
        let number = state.withLock { state -> UInt64? in
            guard !state.hasEnded else { return nil }
            state.last += 1
            state.listeners[state.last] = Listener(continuation: continuation)
            return state.last
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return HostEvents(stream)
    }

    /// Sends an event to all listeners.
    func send(_ kind: HostEvent.Kind) {
        let event = HostEvent(time: .secondsSince1970, kind)
        state.withLock { state in
            for number in state.listeners.keys { state.listeners[number]?.hear(event) }
        }
    }

    /// Ends the events of all listeners.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            return state.listeners.values.map(\.continuation)
        }
        for listener in listeners { listener.finish() }
    }
}
