public import Backplane
import BackplaneDocuments
import CBackplane
import Synchronization

/// The elements, each as JSON, of a stream that was opened by name.
///
/// Leaving the loop, cancelling its task or dropping the iterator closes the stream. One element is requested at a
/// time. If the input is `Resumable` and the provider is a plugin in Swift, the stream continues when the provider is
/// swapped or restarted.
public struct NamedElements: AsyncSequence, Sendable {
    private let stream: NamedStream

    init(_ stream: NamedStream) { self.stream = stream }

    /// Returns the iterator over the elements; all iterators read the same stream.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

    /// The reader of a stream, which closes it when it is dropped.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: NamedStream

        /// Returns the JSON of the next element when it is available; `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BackplaneError)
            -> [UInt8]?
        {
            try await stream.next()
        }
    }
}

/// A stream that is reopened after an interruption if its plugin can continue it, and closed with its last reference.
final class NamedStream: Sendable {
    private struct State {
        var stream: EncodedStream
        /// The last element.
        var last: [UInt8]?
        /// The number of interruptions since the last element.
        var interruptions = 0
    }
    private let method: String
    private let input: [UInt8]
    private let call: Call
    private let wire: ServedWire
    private let provider: @Sendable () async -> LaneSide?
    private let state: Mutex<State>

    /// Opens a stream.
    ///
    /// - Parameter provider: Returns the side of the wire that provides the stream now.
    init(
        _ method: String, _ input: [UInt8], _ call: Call, through wire: ServedWire,
        provider: @escaping @Sendable () async -> LaneSide?
    ) {
        (self.method, self.input, self.call, self.wire) = (method, input, call, wire)
        self.provider = provider
        state = Mutex(State(stream: wire.openAside(.named(method), input, call)))
    }

    deinit { Self.close(state.withLock(\.stream)) }

    /// The maximum number of consecutive interruptions without an element.
    private static var patience: Int { 1_000 }

    /// Closes a stream on a separate thread, which remains occupied if the plugin's function never returns.
    private static func close(_ stream: EncodedStream) {
        if !HostThread.launch({ stream.close() }) { stream.close() }
    }

    /// Returns the next element, reopening the stream if it is interrupted.
    nonisolated(nonsending) func next() async throws(BackplaneError) -> [UInt8]? {
        while true {
            let stream = state.withLock(\.stream)
            do throws(BackplaneError) {
                let element = try await request(stream)
                state.withLock { ($0.last, $0.interruptions) = (element, 0) }
                return element
            } catch {
                guard error.code == .streamInterrupted, await reopen(instead: stream) else {
                    throw wire.naming(method, in: error)
                }
            }
        }
    }

    /// Reopens the stream after its last element unless another reader has; returns `false` if it cannot be continued.
    private nonisolated(nonsending) func reopen(instead interrupted: EncodedStream) async -> Bool {
        let (last, interruptions) = state.withLock { ($0.last, $0.interruptions) }
        guard interruptions < Self.patience else { return false }
        if interruptions > 0 {
            // The pause prevents a busy loop if the provider is always interrupted before an element.
            do { try await Task.sleep(for: .milliseconds(10 * min(interruptions, 10))) } catch { return false }
        }
        guard let input = await provider()?.input(resuming: method, begunWith: input, after: last) else { return false }
        var call = call
        call.deadline = nil
        guard state.withLock({ $0.stream === interrupted }) else { return true }
        let next = wire.openAside(.named(method), input, call)
        let replaced = state.withLock { state in
            state.interruptions += 1
            guard state.stream === interrupted else { return next }
            state.stream = next
            return interrupted
        }
        Self.close(replaced)
        return true
    }

    /// Requests one element.
    ///
    /// The plugin's function runs on a separate thread, which remains occupied if it never returns.
    private nonisolated(nonsending) func request(_ stream: EncodedStream) async throws(BackplaneError) -> [UInt8]? {
        let answer = PendingAnswer(), reply = answer.reply
        if !HostThread.launch({ stream.next(1, reply) }) { reply.end(.noThread) }
        let pulled = await answer.wait { Self.close(stream) }
        if pulled.status == Int32(BP_END) { return nil }
        return try element(in: pulled.get())
    }

    /// Returns the only element of a JSON array, byte for byte.
    private func element(in array: [UInt8]) throws(BackplaneError) -> [UInt8] {
        guard let element = try? JSONReader.onlyElement(of: array) else {
            throw BackplaneError(
                .callInvalidOutput,
                "`\(method)` answered a request for one element with something other than a JSON array of one element: \(String(decoding: array.prefix(100), as: UTF8.self))"
            )
        }
        return element
    }
}
