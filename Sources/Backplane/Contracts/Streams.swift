import Synchronization

/// The elements of an open stream: `for try await change in wires.feed.changes(query, call) { … }`.
///
/// The stream is opened when its first element is requested, and its provider produces each element on request, or
/// shortly before. Leaving the loop, cancelling its task or dropping the iterator cancels the provider's body. The
/// sequence can be iterated once.
///
/// The iteration throws the provider's error, as a call does; `call.cancelled` in a cancelled task; `call.deadline`,
/// `call.retired` and `call.unimplemented` if the stream cannot be opened; `stream.misused` for a second iteration, or
/// for concurrent requests.
///
/// If the provider is swapped or restarted, a stream whose input is ``Resumable`` with a position continues
/// automatically. For any other stream, the iteration throws `stream.interrupted`, and the stream can be reopened.
public struct StreamElements<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    @usableFromInline let opening: StreamOpening<Element, Failure>

    init(_ opening: StreamOpening<Element, Failure>) { self.opening = opening }

    /// Returns the iterator over the elements; only the first iterator returns any.
    @inlinable
    public func makeAsyncIterator() -> Iterator { Iterator(opening) }

    /// The reader of a stream, which closes it when it is dropped.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let reader: StreamReader<Element, Failure>

        @inlinable
        init(_ opening: StreamOpening<Element, Failure>) { reader = StreamReader(opening) }

        /// Returns the next element when it is available; `nil` after the last one.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(Failure) -> Element?
        {
            try await reader.next()
        }
    }
}

/// The function that opens a stream, which can be taken only once.
@usableFromInline
final class StreamOpening<Element, Failure: Error>: Sendable {
    typealias Open =
        nonisolated(nonsending) @Sendable (_ last: Element?, _ isFirst: Bool)
        async throws(BackplaneError) -> OpenSource<Element>
    /// The slot and the member that errors name.
    let member: (slot: Slot, number: Int)
    /// A Boolean value that indicates whether the stream is reopened when it is interrupted.
    let isResumable: Bool
    /// A Boolean value that indicates whether the stream may be reopened before its first element.
    let hasPosition: Bool
    /// Returns the error that the loop throws for an error that crossed the boundary.
    let thrown: @Sendable (BackplaneError) -> Failure
    /// Opens the stream, or reopens it after the given element.
    let open: Open
    private let isTaken = Atomic<Bool>(false)

    init<Declared: ContractFailure>(
        of member: (slot: Slot, number: Int), isResumable: Bool, hasPosition: Bool = true, throwing _: Declared.Type,
        _ open: @escaping Open
    ) where Declared.Thrown == Failure {
        (self.member, self.isResumable, self.hasPosition) = (member, isResumable, hasPosition)
        thrown = { Declared.thrown($0) }
        self.open = open
    }

    /// Returns `true` only the first time that it is called.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// The reader's end of a stream.
///
/// The code that runs for each element is inlined into the consumer's loop, where the element's type is known.
@usableFromInline
final class StreamReader<Element: Sendable, Failure: Error> {
    /// The stream while it is open.
    @usableFromInline var source: OpenSource<Element>?
    @usableFromInline var isOver = false
    @usableFromInline var isReading = false
    @usableFromInline let isResumable: Bool
    /// The last element of a stream that is resumed.
    @usableFromInline var last: Element?
    /// The number of interruptions since then.
    @usableFromInline var interruptions = 0
    private let opening: StreamOpening<Element, Failure>

    @usableFromInline
    init(_ opening: StreamOpening<Element, Failure>) { (self.opening, isResumable) = (opening, opening.isResumable) }

    /// The maximum number of consecutive interruptions without an element.
    private static var patience: Int { 1_000 }

    deinit { close() }

    @inlinable
    nonisolated(nonsending) func next() async throws(Failure) -> Element? {
        // Copies of an iterator share their reader.
        guard !isReading else { throw thrown(.streamReadTwiceAtOnce) }
        isReading = true
        defer { isReading = false }
        while !isOver {
            do throws(BackplaneError) {
                guard !Task.isCancelled else { throw .streamCancelled }
                let source = if let source { source } else { try await open() }
                if let element = try await source.next() {
                    if isResumable { (last, interruptions) = (element, 0) }
                    return element
                }
                close()
            } catch {
                try fail(error)
            }
        }
        return nil
    }

    @inline(never) @usableFromInline
    nonisolated(nonsending) func open() async throws(BackplaneError) -> OpenSource<Element> {
        guard interruptions > 0 || last != nil || opening.take() else { throw .streamReadTwice }
        if interruptions > 1 {
            // The provider was again interrupted before its first element, so it gets time to recover.
            do {
                try await Task.sleep(for: .milliseconds(10 * min(interruptions - 1, 10)))
            } catch {
                throw .streamCancelled
            }
        }
        let source = try await opening.open(last, interruptions == 0 && last == nil)
        self.source = source
        return source
    }

    /// Closes the stream, and throws its error unless it is reopened.
    @inline(never) @usableFromInline
    func fail(_ error: BackplaneError) throws(Failure) {
        close()
        interruptions += 1
        guard isResumable, last != nil || opening.hasPosition, error.code == .streamInterrupted,
            interruptions < Self.patience
        else { throw thrown(error) }
        isOver = false
    }

    @inline(never) @usableFromInline
    func thrown(_ error: BackplaneError) -> Failure {
        opening.thrown(opening.member.slot.naming(opening.member.number, in: error))
    }

    @inline(never) @usableFromInline
    func close() {
        isOver = true
        source.take()?.close()
    }
}

extension BackplaneError {
    @usableFromInline static var streamCancelled: BackplaneError {
        BackplaneError(.callCancelled, "the stream was closed by its consumer")
    }

    fileprivate static var streamReadTwice: BackplaneError {
        BackplaneError(.streamMisused, "the elements of a stream can be iterated once; open the stream again")
    }
}

extension BackplaneError {
    /// The error of a stream whose provider is replaced or stopped.
    package static var streamInterrupted: BackplaneError {
        BackplaneError(
            .streamInterrupted, "the stream's provider was swapped or restarted; open the stream again")
    }
}

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

/// An input of a stream that states where the stream begins, so that an interrupted stream can be reopened there.
///
/// ```swift
/// extension FeedQuery: Resumable {
///     public func resuming(after last: Change) -> FeedQuery { FeedQuery(first: last.number + 1) }
/// }
/// ```
///
/// When the provider of such a stream is swapped or restarted, the stream is reopened with the input that follows the
/// last element received by the loop, and the loop continues. No element is lost or repeated if the provider can send
/// all later elements again. An input that means "from now on" has no position. Its stream is reopened only after its
/// first element, because elements sent during an earlier swap would be lost.
public protocol Resumable {
    /// The stream's element.
    associatedtype Element
    /// A Boolean value that indicates whether the input states where the stream begins; `true` by default.
    ///
    /// Without a position, a stream that is interrupted before its first element ends with `stream.interrupted`.
    var hasPosition: Bool { get }
    /// Returns the input of a stream that begins after an element.
    func resuming(after last: Element) -> Self
}

extension Resumable {
    /// The value `true`: the input states where the stream begins.
    public var hasPosition: Bool { true }
}

extension BoundStream where Input: Resumable, Input.Element == Element {
    /// Returns the elements of a stream, which is reopened when its provider is swapped or restarted.
    ///
    /// - Parameters:
    ///   - input: The argument of the stream.
    ///   - call: The frame of the call being served, or one started with `context.begin()`. Its deadline bounds the
    ///     first opening.
    public func callAsFunction(_ input: Input, _ call: Call) -> StreamElements<Element, Failure.Thrown> {
        let opening = StreamOpening<Element, Failure.Thrown>(
            of: (slot, member), isResumable: true, hasPosition: input.hasPosition, throwing: Failure.self
        ) {
            [slot, member] (last, isFirst) async throws(BackplaneError) in
            var call = call
            if !isFirst { call.deadline = nil }
            return try await slot.open(member, last.map(input.resuming(after:)) ?? input, call, Element.self)
        }
        return StreamElements(opening)
    }
}

extension BoundStream where Input: Resumable, Input.Element == Element, Frame == OptionalFrame {
    /// Returns the elements of a stream without a deadline or a trace, which is reopened after interruptions.
    public func callAsFunction(_ input: Input) -> StreamElements<Element, Failure.Thrown> { self(input, Call()) }
}
