import Backplane
import CBackplane
import Synchronization

/// An open stream of a component, in either lane.
protocol OpenStream: AnyObject, Sendable {
    /// The number of elements that the consumer has taken.
    var elements: Int { get }
    /// Ends the stream with an error, which is reported to the consumer.
    func end(_ error: BackplaneError)
}

/// The open streams of one component, in either lane, from their opening until their bodies have returned.
///
/// Requests for elements do not access it.
final class ComponentStreams: Sendable {
    private struct State {
        var open: [UInt64: (consumer: UInt32, stream: any OpenStream)] = [:]
        /// The reason why no stream can be opened, or `nil` if one can.
        var refusal: BackplaneError?
        var opened = 0
        /// The number of elements of the streams that are no longer open.
        var elements = 0
    }
    private let state = Mutex(State())
    private let consumers: StreamConsumers
    private let clock: any HostClock

    init(_ consumers: StreamConsumers, clock: any HostClock) { (self.consumers, self.clock) = (consumers, clock) }

    /// The maximum number of open streams of a component.
    static let limit = 65_536

    /// The number of streams whose bodies have not returned.
    var count: Int { state.withLock { $0.open.count } }

    /// The numbers of open streams, of streams opened so far, and of elements taken by consumers.
    var statistics: StreamStatistics {
        let (open, counts) = state.withLock { state in
            (
                state.open.values.map(\.stream),
                StreamStatistics(open: state.open.count, opened: state.opened, elements: state.elements)
            )
        }
        return open.reduce(into: counts) { $0.elements += $1.elements }
    }

    /// Registers a stream until ``remove(_:)``.
    ///
    /// - Throws: The reason why no stream can be opened; `host.exhausted` if there are too many.
    func add(_ id: UInt64, by consumer: UInt32, _ make: () -> any OpenStream) throws(BackplaneError) {
        guard consumers.add(consumer) else { throw .askerStopped }
        let refusal = state.withLock { state -> BackplaneError? in
            if let refusal = state.refusal { return refusal }
            guard state.open.count < Self.limit else {
                return BackplaneError(
                    .hostExhausted, "the component has \(Self.limit) open streams; close some before opening another")
            }
            state.open[id] = (consumer, make())
            state.opened += 1
            return nil
        }
        if let refusal {
            consumers.remove(consumer)
            throw refusal
        }
    }

    func remove(_ id: UInt64) {
        let elements = state.withLock { $0.open[id]?.stream }?.elements ?? 0
        // The stream may be destroyed by this, outside the lock.
        let stream = state.withLock { state in
            state.elements += elements
            return state.open.removeValue(forKey: id)
        }
        if let consumer = stream?.consumer { consumers.remove(consumer) }
    }

    /// Ends all open streams, and refuses new ones until ``admit()``.
    func interrupt(_ error: BackplaneError) { end(refuse(error), error) }

    /// Ends all open streams, refuses new ones until ``admit()``, and then calls a function.
    func interrupt(_ error: BackplaneError, then next: @escaping @Sendable () -> Void) {
        let open = refuse(error)
        guard !open.isEmpty else { return next() }
        let ends: [@Sendable () -> Void] = open.map { stream in { stream.end(error) } }
        PluginWork.end(ends, by: clock, then: next)
    }

    /// Ends all open streams of several components, and refuses new ones until ``admit()``.
    ///
    /// - Parameter components: The streams of the components. Consumers come before their providers, so that a body
    ///   that detects the end of a stream no longer has a consumer.
    static func interrupt(_ components: [ComponentStreams], _ error: BackplaneError) {
        components.first?.end(components.flatMap { $0.refuse(error) }, error)
    }

    /// Refuses further streams, and returns the open ones.
    private func refuse(_ error: BackplaneError) -> [any OpenStream] {
        state.withLock { state in
            state.refusal = error
            return state.open.values.map(\.stream)
        }
    }

    /// Allows streams to be opened again.
    func admit() {
        state.withLock { $0.refusal = nil }
    }

    /// Returns the function that ends the streams that a component has opened so far.
    func ending(openedBy consumer: UInt16, _ error: BackplaneError) -> @Sendable () -> Void {
        let open: [any OpenStream] = state.withLock { state in
            state.open.isEmpty ? [] : state.open.values.filter { $0.consumer == UInt32(consumer) }.map(\.stream)
        }
        return { self.end(open, error) }
    }

    private func end(_ streams: [any OpenStream], _ error: BackplaneError) {
        PluginWork.end(streams.map { stream in { stream.end(error) } }, by: clock)
    }
}

/// The host's handle for a stream that a component has opened natively, used to end the stream.
///
/// `@unchecked`: the pointer is the provider's own and is only passed back.
final class NativeStream: OpenStream, @unchecked Sendable {
    private let stream: UnsafeMutableRawPointer
    private let endStream: bp_end_stream
    private let countElements: bp_count_elements
    private let releaseStream: bp_release_stream

    init(
        _ stream: UnsafeMutableRawPointer, end: @escaping bp_end_stream, count: @escaping bp_count_elements,
        release: @escaping bp_release_stream
    ) {
        (self.stream, endStream, countElements, releaseStream) = (stream, end, count, release)
    }

    deinit { releaseStream(stream) }

    /// The number of elements that the consumer has taken.
    var elements: Int { Int(clamping: countElements(stream)) }

    /// Ends the stream with an error, and cancels its body, which may react on this thread.
    func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { endStream(stream, answer.status, $0) }
    }
}

/// The numbers of open streams by consumer, for all components of a host.
///
/// When a component ends, all others are searched for streams that it has opened, unless it has none. From then on, its
/// streams are refused, because a request of its old code may have been admitted before.
final class StreamConsumers: Sendable {
    private struct State {
        var open: [UInt32: Int] = [:]
        var ended: Set<UInt32> = []
    }
    private let state = Mutex(State())

    /// Returns whether a component has opened a stream whose body may not have returned.
    func have(_ consumer: UInt16) -> Bool { state.withLock { $0.open[UInt32(consumer)] != nil } }

    /// Counts a stream; returns `false` if its consumer has ended.
    func add(_ consumer: UInt32) -> Bool {
        state.withLock { state in
            guard !state.ended.contains(consumer) else { return false }
            state.open[consumer, default: 0] += 1
            return true
        }
    }

    func remove(_ consumer: UInt32) {
        state.withLock { state in
            let left = (state.open[consumer] ?? 1) - 1
            state.open[consumer] = left > 0 ? left : nil
        }
    }

    /// Refuses streams of a component that has ended, until another one has its number.
    func end(_ consumer: UInt16) { _ = state.withLock { $0.ended.insert(UInt32(consumer)) } }

    /// Admits the streams of a component that has just received its number.
    func begin(_ consumer: UInt16) { _ = state.withLock { $0.ended.remove(UInt32(consumer)) } }
}
