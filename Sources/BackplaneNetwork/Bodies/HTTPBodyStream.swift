import Backplane
import Synchronization

/// The bytes of a body in chunks, each read from its producer on request.
///
/// The stream can be read once. All its iterators share one position, so that a reader can begin with a loop and
/// collect the rest. Releasing a stream that has not been read to its end cancels its producer.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A function that produces the next bytes, or `nil` at the end.
    public typealias Next = @Sendable () async throws -> [UInt8]?

    /// The total number of bytes; `nil` if unknown.
    public let length: Int64?
    /// The whole body, if it is in memory.
    package private(set) var bytes: [UInt8]?
    /// The value that was decoded from the whole body for another load; `nil` if no other load has the same body.
    private(set) var decoded: DecodedValue?
    private let state: BodyStreamState

    /// Creates a stream from its producer's functions.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes, or `nil` if it is unknown.
    ///   - cancel: A function that releases the producer's resources; called once, unless the end was read or `next`
    ///     threw an error.
    ///   - next: A function that produces the next bytes, or `nil` at the end. It is not called concurrently, nor after
    ///     the end or an error.
    public init(length: Int64? = nil, cancel: @escaping @Sendable () -> Void = {}, next: @escaping Next) {
        self.length = length
        state = BodyStreamState(next: next, cancel: cancel)
    }

    /// Creates a stream of bytes in memory.
    public init(_ bytes: [UInt8]) {
        let rest = Mutex(bytes.isEmpty ? nil : bytes)
        self.init(length: Int64(bytes.count)) { rest.withLock { $0.take() } }
        self.bytes = bytes
    }

    /// Creates a stream of bytes in memory from which several loads decode one value.
    package init(_ bytes: [UInt8], sharing decoded: DecodedValue) {
        self.init(bytes)
        self.decoded = decoded
    }

    /// Creates a stream from a sequence of chunks.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
    where Chunks.Element == [UInt8] {
        let position = SequencePosition(chunks)
        self.init(length: length, cancel: position.release) { try await position.next() }
    }

    /// Ends the stream for its producer; a later read throws `network.body`.
    ///
    /// A read in progress continues; cancel its task to end it.
    public func cancel() { state.end(by: true) }

    package var hasEnded: Bool { state.hasEnded }

    package func isSame(as other: HTTPBodyStream) -> Bool { state === other.state }

    package func next() async throws -> [UInt8]? { try await state.next() }

    /// Creates an iterator that continues where the previous one stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(state: state) }

    /// An iterator of a body's chunks, none of them empty.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let state: BodyStreamState

        /// Returns the next chunk, or `nil` at the end.
        public mutating func next() async throws -> [UInt8]? { try await state.next() }
    }
}

/// The position of a body's readers.
private final class BodyStreamState: Sendable {
    private enum Phase {
        case idle, reading, ended, cancelled
    }
    private let produce: HTTPBodyStream.Next
    private let cancel: @Sendable () -> Void
    private let phase = Mutex(Phase.idle)

    init(next: @escaping HTTPBodyStream.Next, cancel: @escaping @Sendable () -> Void) {
        (produce, self.cancel) = (next, cancel)
    }

    deinit { end(by: true) }

    var hasEnded: Bool { phase.withLock { $0 == .ended } }

    func next() async throws -> [UInt8]? {
        guard try begin() else { return nil }
        do {
            while let bytes = try await produce() {
                if bytes.isEmpty { continue }
                resume()
                return bytes
            }
            end(by: false)
            return nil
        } catch {
            end(by: false)
            throw error
        }
    }

    /// Takes the producer for one read; returns `false` at the end of the body.
    private func begin() throws(BackplaneError) -> Bool {
        let phase = phase.withLock { phase in
            defer { if phase == .idle { phase = .reading } }
            return phase
        }
        switch phase {
        case .idle: return true
        case .ended: return false
        case .reading:
            throw BackplaneError(.networkBody, "the body is being read by another task; read it in one task only")
        case .cancelled: throw BackplaneError(.networkBody, "the body was abandoned before it was read to its end")
        }
    }

    private func resume() {
        let wasCancelled = phase.withLock { phase in
            if phase == .reading { phase = .idle }
            return phase == .cancelled
        }
        if wasCancelled { cancel() }
    }

    func end(by reader: Bool) {
        let cancels = phase.withLock { phase in
            // The reader cancels the producer after that.
            defer { if phase != .ended { phase = reader ? .cancelled : .ended } }
            return reader && phase == .idle
        }
        if cancels { cancel() }
    }
}

/// The iterator of a sequence, used by one reader at a time.
private final class SequencePosition<Chunks: AsyncSequence & Sendable>: @unchecked Sendable
where Chunks.Element == [UInt8] {  // its owner makes no concurrent calls of `next` and `release`
    private var chunks: Chunks?
    private var iterator: Chunks.AsyncIterator?

    init(_ chunks: Chunks) { self.chunks = chunks }

    func next() async throws -> [UInt8]? {
        if iterator == nil { iterator = chunks.take()?.makeAsyncIterator() }
        return try await iterator?.next()
    }

    @Sendable func release() { (chunks, iterator) = (nil, nil) }
}

extension HTTPBodyStream {
    /// Reads the rest of the body.
    ///
    /// - Throws: `network.too-large` once the body exceeds the limit, which ends the stream; the errors of reading.
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard chunk.count <= limit - bytes.count else {
                cancel()
                throw BackplaneError(
                    .networkTooLarge, "the body has more than \(limit) bytes, which is the limit for bodies in memory")
            }
            if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
        }
        return bytes
    }

    /// Writes the rest of the body to a file, which appears once it is complete.
    ///
    /// - Parameter path: The path of the file, which replaces an existing one. Only its owner may read it.
    /// - Returns: The number of bytes.
    /// - Throws: `network.file` if the file cannot be written, which ends the stream; the errors of reading. An
    ///   existing file then remains unchanged.
    @discardableResult
    public func write(to path: String) async throws -> Int64 {
        let file = try IncomingFile(path)
        do {
            for try await chunk in self { try file.write(chunk) }
            return try file.finish()
        } catch {
            cancel()
            file.discard()
            throw error
        }
    }

    /// Returns the stream with functions that take part in its reading.
    ///
    /// - Parameters:
    ///   - piece: A function that is called with each piece, and with the number of bytes so far, before the reader
    ///     receives the piece. If it throws an error, the reader receives the error instead, and the stream ends.
    ///   - ended: A function that is called at the end, possibly with the error of a read, and if the stream is
    ///     cancelled. If it throws an error at the end, the reader receives that error.
    package func tapped(
        piece: @escaping @Sendable ([UInt8], _ total: Int) throws -> Void = { _, _ in },
        ended: @escaping @Sendable ((any Error)?) throws -> Void = { _ in }
    ) -> HTTPBodyStream {
        let source = self, count = Mutex(0)
        @Sendable func cancel(_ error: any Error) {
            source.cancel()
            try? ended(error)
        }
        return HTTPBodyStream(length: length, cancel: { cancel(CancellationError()) }) {
            do {
                guard let chunk = try await source.next() else {
                    try ended(nil)
                    return nil
                }
                let total = count.withLock { count in
                    count += chunk.count
                    return count
                }
                try piece(chunk, total)
                return chunk
            } catch {
                cancel(error)
                throw error
            }
        }
    }

    /// Returns the stream with an announced length, which the number of its bytes must match.
    ///
    /// The chunk that completes the length is held back until the source has ended. Otherwise a server that has
    /// received all announced bytes would consider a longer body complete, and could respond before the error.
    func checked(length: Int64) -> HTTPBodyStream {
        let count = Mutex<Int64>(0), source = self
        return HTTPBodyStream(length: length, cancel: cancel) {
            let chunk = try await source.next()
            let total = count.withLock { count in
                count += Int64(chunk?.count ?? 0)
                return count
            }
            guard let chunk else {
                guard total == length else { throw BackplaneError.wrongLength(length, "only \(total)") }
                return nil
            }
            if total >= length {
                let rest = total == length ? try await source.next() : chunk
                guard rest == nil else { throw BackplaneError.wrongLength(length, "more") }
            }
            return chunk
        }
    }
}

extension BackplaneError {
    fileprivate static func wrongLength(_ length: Int64, _ found: String) -> BackplaneError {
        BackplaneError(.networkBody, "the request's body was announced with \(length) bytes, but has \(found)")
    }
}
