public import Backplane

/// The elements of a stream that is read in advance, into a buffer.
///
/// Reading begins when the value is created, and does not wait for the consumer: elements that exceed the buffer are
/// dropped according to its policy. Use it if the latest elements matter more than having all of them.
///
/// ```swift
/// for try await progress in transfers.progress(id).buffered(.bufferingNewest(1)) { show(progress) }
/// ```
public struct BufferedElements<Element: Sendable>: AsyncSequence, Sendable {
    /// The policies for a full buffer: those of `AsyncStream`.
    public typealias Policy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
    private let stream: AsyncThrowingStream<Element, any Error>

    fileprivate init(_ elements: StreamElements<Element>, _ policy: Policy) {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Element.self, throwing: (any Error).self, bufferingPolicy: policy)
        let task = Task {
            do throws(BackplaneError) {
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
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BackplaneError)
            -> Element?
        {
            do { return try await iterator.next(isolation: actor) } catch { throw BackplaneError(thrown: error) }
        }
    }
}

extension StreamElements {
    /// Reads the elements in advance, without waiting for the consumer.
    ///
    /// - Parameter policy: The size of the buffer, and the elements to drop when it is full.
    public func buffered(_ policy: BufferedElements<Element>.Policy) -> BufferedElements<Element> {
        BufferedElements(self, policy)
    }
}
