public import Backplane
import Synchronization

/// An occurrence in a host, as reported by ``PluginHost/events``.
public struct HostEvent: Sendable, Hashable {
    /// The occurrence that an event reports, with its details.
    public enum Kind: Codable, Sendable, Hashable {
        /// The host has started, and these managers are running.
        case started(managers: [String])
        /// A swap or a rollback has ended; a report with the outcome `rolledBack` represents a failed probation.
        case swapped(report: ChangeReport)
        /// Another manifest is active.
        case applied(report: ChangeReport)
        /// Components were recreated.
        case reset(report: ChangeReport)
        /// A change was refused or has failed; the error states whether anything has changed.
        case failed(operation: Operation, error: BackplaneError)
        /// The calls through a wire use another lane than before.
        case laneChanged(wire: WireChange)
        /// The listener missed this number of events at this point because it was too slow.
        case missed(count: Int)
    }
    /// The changes that can fail.
    public enum Operation: String, Codable, Sendable, Hashable, CaseIterable {
        /// The loading of libraries and the start of eager managers.
        case start
        /// The activation of new builds.
        case swap
        /// The return to an older generation.
        case rollback
        /// The activation of another manifest.
        case apply
        /// The recreation of components.
        case reset
    }
    /// The time of the event, in seconds since 1970.
    public var time: Double
    /// The event itself.
    public var kind: Kind

    package init(time: Double, _ kind: Kind) { (self.time, self.kind) = (time, kind) }
}

extension HostEvent: Codable {
    private enum CodingKeys: CodingKey { case time }

    /// Decodes the time, and the event as an object under its own name.
    public init(from decoder: any Decoder) throws {
        time = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .time)
        kind = try Kind(from: decoder)
    }

    /// Encodes an object such as `{"time": 1.5, "missed": {"count": 7}}`.
    public func encode(to encoder: any Encoder) throws {
        try kind.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
    }
}

/// The events of a host from the creation of the sequence until the host has stopped.
///
/// ```swift
/// for await event in host.events {
///     if case .failed(let operation, let error) = event.kind { page("\(operation): \(error)") }
/// }
/// ```
///
/// A listener may fall 1,000 events behind. It then misses further events, and receives their number
/// (``HostEvent/Kind/missed(count:)``); the host never waits for it.
public typealias HostEvents = AsyncStream<HostEvent>

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
        var hasEnded = false
    }
    private let state = Mutex(State())

    /// The maximum number of unread events of a listener.
    static let limit = 1_000

    /// Begins to listen.
    func listen() -> HostEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HostEvent.self, bufferingPolicy: .bufferingOldest(Self.limit))
        let number = Callbacks.newID()
        let isOpen = state.withLock { state in
            if !state.hasEnded { state.listeners[number] = Listener(continuation: continuation) }
            return !state.hasEnded
        }
        guard isOpen else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
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

/// The events of the host.
extension Coordinator {
    /// Makes a change, and reports its outcome to the listeners.
    ///
    /// - Parameter event: The event for a change that has been made; `nil` if nothing was changed.
    func announcing<Result: Sendable>(
        _ operation: HostEvent.Operation, _ change: @Sendable () async throws(BackplaneError) -> Result,
        _ event: @Sendable (Result) async -> HostEvent.Kind?
    ) async throws(BackplaneError) -> Result {
        // Adds the wires that were connected since the last announcement.
        lanes.merge(lanesNow.mapValues { $0.lane.name }) { known, _ in known }
        defer { announceLanes() }
        do throws(BackplaneError) {
            let result = try await change()
            if let event = await event(result) { events.send(event) }
            return result
        } catch {
            events.send(.failed(operation: operation, error: error.shown))
            throw error
        }
    }

    /// The names of the running managers, in sorted order.
    var managersUp: [String] {
        live.managersUp.sorted()
    }

    /// Announces the wires whose lanes have changed since the last announcement.
    private func announceLanes() {
        let now = lanesNow
        for (key, wire) in now {
            guard let before = lanes[key], before != wire.lane.name else { continue }
            events.send(
                .laneChanged(
                    wire: WireChange(
                        user: wire.user, label: wire.label, provider: wire.provider, contract: wire.contract,
                        fromLane: before, toLane: wire.lane.name, reason: wire.lane.reason)))
        }
        lanes = now.mapValues { $0.lane.name }
    }

    private var lanesNow: [WireKey: WireStatus] {
        Dictionary(
            live.wires.statuses.map { wire in
                (WireKey(user: wire.user, label: wire.label, provider: wire.provider, contract: wire.contract), wire)
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// The wire of a component, or of the host program.
struct WireKey: Hashable {
    var user: String?
    var label, provider, contract: String
}

/// The elements of a stream that is read in advance, into a buffer.
///
/// Reading begins when the value is created, and does not wait for the consumer: elements that exceed the buffer are
/// dropped according to its policy. Use it if the latest elements matter more than having all of them.
///
/// ```swift
/// for try await progress in transfers.progress(id).buffered(.bufferingNewest(1)) { show(progress) }
/// ```
public struct BufferedElements<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// The policies for a full buffer, as in `AsyncStream`.
    public typealias Policy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
    private let stream: AsyncThrowingStream<Element, any Error>

    fileprivate init(_ elements: StreamElements<Element, Failure>, _ policy: Policy) {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Element.self, throwing: (any Error).self, bufferingPolicy: policy)
        let task = Task {
            do {
                for try await element in elements { continuation.yield(element) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        self.stream = stream
    }

    /// Returns the iterator over the elements.
    public func makeAsyncIterator() -> Iterator { Iterator(iterator: stream.makeAsyncIterator()) }

    /// The reader of the buffer; dropping it closes the stream.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncThrowingStream<Element, any Error>.Iterator

        /// Returns the next element when it is available; `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(Failure) -> Element?
        {
            // The buffer only ends with an error of the elements.
            do { return try await iterator.next(isolation: actor) } catch { throw error as! Failure }
        }
    }
}

extension StreamElements {
    /// Reads the elements in advance, without waiting for the consumer.
    ///
    /// - Parameter policy: The size of the buffer, and the elements to drop when it is full.
    public func buffered(_ policy: BufferedElements<Element, Failure>.Policy) -> BufferedElements<Element, Failure> {
        BufferedElements(self, policy)
    }
}

// Only programs put errors into sets. In the SDK, these conformances would be part of every plugin.

extension BackplaneError {
    /// The error and its causes without confidential details, for reports.
    package var shown: BackplaneError {
        var shown = self
        shown.failure?.details = failure?.details.filter { !$0.key.hasPrefix(".") } ?? [:]
        shown.failure?.json = nil
        shown.causes = causes.map(\.shown)
        return shown
    }
}

extension BackplaneError: Hashable {
    /// Hashes the code, message, location, failure and causes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(location)
        hasher.combine(failure)
        hasher.combine(causes)
    }
}

extension BackplaneError.Failure: Hashable {
    /// Hashes the code and the details.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(details)
    }
}
