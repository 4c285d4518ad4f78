/// The provider's end of a stream, which accepts the elements that its body sends.
///
/// ```swift
/// table.stream(\.changes) { feed, query, elements, call in
///     for await change in feed.source(query) { try await elements.send(change) }
/// }
/// ```
public struct StreamSender<Element: Sendable>: Sendable {
    @usableFromInline let channel: StreamChannel<Element>

    @inlinable
    init(_ channel: StreamChannel<Element>) { self.channel = channel }

    /// Sends an element, and returns when the consumer has taken it or, in the encoded lane, requests more.
    ///
    /// - Throws: `call.cancelled` if the consumer has closed the stream or the component is replaced or stopped;
    ///   `stream.misused` after the body has returned.
    @inlinable
    nonisolated(nonsending) public func send(_ element: Element) async throws(BackplaneError) {
        try await channel.send(element)
    }

    /// Sends every element of a sequence, until it ends or the consumer has closed the stream.
    ///
    /// - Throws: The sequence's error; `call.cancelled` and `stream.misused`, as `send(_:)` does.
    @inlinable
    nonisolated(nonsending) public func send<S: AsyncSequence>(contentsOf elements: S) async throws
    where S.Element == Element {
        for try await element in elements { try await channel.send(element) }
    }
}
