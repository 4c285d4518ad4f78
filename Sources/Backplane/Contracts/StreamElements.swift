import Synchronization

/// The elements of an open stream: `for try await change in wires.feed.changes(query, call) { … }`.
///
/// The stream is opened when its first element is asked for, and its provider makes each element when it is asked for,
/// or shortly before. Leaving the loop, cancelling its task or dropping the iterator cancels the provider's body. The
/// sequence can be iterated once.
///
/// The iteration throws the provider's error, as ``BackplaneError/init(thrown:)`` converts it; `stream.interrupted` if
/// the provider is swapped or restarted, after which the stream can be opened again, unless the input is ``Resumable``
/// and the stream goes on by itself; `call.cancelled` in a cancelled task; `call.deadline`, `call.retired` and
/// `call.unimplemented` if the stream cannot be opened; `stream.misused` for a second iteration, or a second request
/// at once.
public struct StreamElements<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate let opening: StreamOpening<Element>

    /// Creates the elements of a stream.
    ///
    /// - Parameters:
    ///   - isResumable: Whether the stream is opened again when it is interrupted.
    ///   - open: A function that opens the stream, after the given element if it is opened again.
    init(
        isResumable: Bool,
        _ open:
            nonisolated(nonsending) @escaping @Sendable (_ last: Element?, _ isFirst: Bool)
            async throws(BackplaneError) -> OpenSource<Element>
    ) {
        opening = StreamOpening(isResumable: isResumable, open)
    }

    /// Returns the iterator over the elements; only the first one gives any.
    public func makeAsyncIterator() -> Iterator { Iterator(opening) }

    /// The reader of a stream, which closes it when it is dropped.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: StreamReader<Element>

        fileprivate init(_ opening: StreamOpening<Element>) { reader = StreamReader(opening) }

        /// Returns the next element once there is one; `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BackplaneError)
            -> Element?
        {
            try await reader.next()
        }
    }
}

/// The way to open a stream, which is taken once.
private final class StreamOpening<Element>: Sendable {
    typealias Open =
        nonisolated(nonsending) @Sendable (_ last: Element?, _ isFirst: Bool)
        async throws(BackplaneError) -> OpenSource<Element>
    let isResumable: Bool
    let open: Open
    private let isTaken = Atomic<Bool>(false)

    init(isResumable: Bool, _ open: @escaping Open) { (self.isResumable, self.open) = (isResumable, open) }

    /// Returns whether nobody has taken it before.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

/// A stream as its one reader sees it.
private final class StreamReader<Element: Sendable> {
    private enum State {
        case closed
        case open(OpenSource<Element>)
        case over
    }
    private var state: State
    private let opening: StreamOpening<Element>
    /// The last element of a stream that is resumed.
    private var last: Element?
    /// The number of interruptions since then.
    private var interruptions = 0
    /// A Boolean value that indicates whether a request for an element has not been answered.
    private var isReading = false

    init(_ opening: StreamOpening<Element>) { (self.opening, state) = (opening, .closed) }

    /// The greatest number of interruptions without an element in between.
    private static var patience: Int { 1_000 }

    deinit { close() }

    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        // Copies of an iterator share their reader.
        guard !isReading else { throw .streamReadTwiceAtOnce }
        isReading = true
        defer { isReading = false }
        while true {
            do throws(BackplaneError) {
                if case .over = state { return nil }
                guard !Task.isCancelled else { throw .streamCancelled }
                let source: OpenSource<Element>
                switch state {
                case .over: return nil
                case .open(let open): source = open
                case .closed:
                    guard interruptions > 0 || last != nil || opening.take() else { throw .streamReadTwice }
                    source = try await opening.open(last, interruptions == 0 && last == nil)
                    state = .open(source)
                }
                if let element = try await source.next() {
                    if opening.isResumable { (last, interruptions) = (element, 0) }
                    return element
                }
                close()
                return nil
            } catch {
                close()
                interruptions += 1
                guard opening.isResumable, error.code == .streamInterrupted, interruptions < Self.patience else {
                    throw error
                }
                state = .closed
            }
        }
    }

    private func close() {
        if case .open(let source) = state { source.close() }
        state = .over
    }
}

extension BackplaneError {
    static var streamCancelled: BackplaneError {
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
