public import Backplane
import BackplaneDocuments
import CBackplane

/// The elements, each as JSON, of a stream that was opened by name.
///
/// Leaving the loop, cancelling its task or dropping the iterator closes the stream. One element is requested at a
/// time.
public struct NamedElements: AsyncSequence, Sendable {
    private let stream: NamedStream

    init(_ stream: ServedStream, of method: String, through wire: ServedWire) {
        self.stream = NamedStream(stream, of: method, through: wire)
    }

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

/// A stream that is closed when it is no longer referenced.
private final class NamedStream: Sendable {
    private let stream: ServedStream
    private let method: String
    private let wire: ServedWire

    init(_ stream: ServedStream, of method: String, through wire: ServedWire) {
        (self.stream, self.method, self.wire) = (stream, method, wire)
    }

    deinit { Self.close(stream) }

    /// Closes a stream on a separate thread, which remains occupied if the plugin's function never returns.
    private static func close(_ stream: ServedStream) {
        if !HostThread.launch({ stream.close() }) { stream.close() }
    }

    /// Requests one element.
    ///
    /// The plugin's function runs on a separate thread, which remains occupied if it never returns.
    nonisolated(nonsending) func next() async throws(BackplaneError) -> [UInt8]? {
        let answer = PendingAnswer(), reply = answer.reply
        if !HostThread.launch({ [stream] in stream.next(1, reply) }) { reply.end(.noThread) }
        let pulled = await answer.wait { [stream] in Self.close(stream) }
        if pulled.status == Int32(BP_END) { return nil }
        do throws(BackplaneError) { return try element(in: pulled.get()) } catch {
            throw wire.naming(method, in: error)
        }
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
