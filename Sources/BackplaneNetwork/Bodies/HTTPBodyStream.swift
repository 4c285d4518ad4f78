import Backplane
import Synchronization

/// A piece of a body as delivered by its producer: bytes, or the end with the trailer fields.
public enum HTTPBodyPart: Sendable {
    /// The next bytes.
    case bytes([UInt8])
    /// The last part, with the fields that follow the content.
    case end(trailers: HTTPHeaders)
}

/// The bytes of a body in chunks, each read from its producer on request.
///
/// The stream can be read once. All its iterators share one position, so that a reader can begin with a loop and
/// collect the rest. Releasing a stream that has not been read to its end cancels its producer.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A function that produces the next part.
    public typealias Next = @Sendable () async throws -> HTTPBodyPart

    /// The total number of bytes; `nil` if unknown.
    public let length: Int64?
    private let state: BodyStreamState

    /// Creates a stream from its producer's functions.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes, or `nil` if it is unknown.
    ///   - cancel: A function that releases the producer's resources; called once, unless the end was read or `next`
    ///     threw an error.
    ///   - next: A function that produces the next part. It is not called concurrently, nor after the end or an error.
    public init(length: Int64? = nil, cancel: @escaping @Sendable () -> Void = {}, next: @escaping Next) {
        self.length = length
        state = BodyStreamState(next: next, cancel: cancel)
    }

    /// Creates a stream of bytes in memory.
    public init(_ bytes: [UInt8], trailers: HTTPHeaders = [:]) {
        let rest = Mutex(bytes.isEmpty ? nil : bytes)
        self.init(length: Int64(bytes.count)) {
            rest.withLock { $0.take() }.map { .bytes($0) } ?? .end(trailers: trailers)
        }
    }

    /// Creates a stream from a sequence of chunks.
    ///
    /// - Parameters:
    ///   - chunks: The chunks; the next chunk is requested once the previous one has been consumed.
    ///   - length: The total number of bytes, or `nil` if it is unknown.
    ///   - trailers: The trailer fields, which are requested after the last chunk.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, trailers: @escaping @Sendable () -> HTTPHeaders = { [:] }
    ) where Chunks.Element == [UInt8] {
        let position = SequencePosition(chunks)
        self.init(length: length, cancel: position.release) {
            try await position.next().map { .bytes($0) } ?? .end(trailers: trailers())
        }
    }

    /// The trailer fields, which are empty until the stream has been read to its end.
    public var trailers: HTTPHeaders { state.trailers }

    /// Ends the stream for its producer; a later read throws `network.body`.
    ///
    /// A read in progress continues; cancel its task to end it.
    public func cancel() { state.end(by: true) }

    /// A Boolean value that indicates whether the stream has been read to its end.
    var hasEnded: Bool { state.hasEnded }

    /// Returns whether both are one stream.
    func isSame(as other: HTTPBodyStream) -> Bool { state === other.state }

    /// Returns the next chunk, or `nil` at the end.
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
    private struct State {
        var phase = Phase.idle
        var trailers: HTTPHeaders = [:]
    }
    private let produce: HTTPBodyStream.Next
    private let cancel: @Sendable () -> Void
    private let state = Mutex(State())

    init(next: @escaping HTTPBodyStream.Next, cancel: @escaping @Sendable () -> Void) {
        (produce, self.cancel) = (next, cancel)
    }

    deinit { end(by: true) }

    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    var hasEnded: Bool { state.withLock { $0.phase == .ended } }

    func next() async throws -> [UInt8]? {
        guard try begin() else { return nil }
        do {
            while true {
                switch try await produce() {
                case .bytes(let bytes):
                    if bytes.isEmpty { continue }
                    resume()
                    return bytes
                case .end(let trailers):
                    state.withLock { $0.trailers = trailers }
                    end(by: false)
                    return nil
                }
            }
        } catch {
            end(by: false)
            throw error
        }
    }

    /// Takes the producer for one read; returns `false` at the end of the body.
    private func begin() throws(BackplaneError) -> Bool {
        let phase = state.withLock { state in
            defer { if state.phase == .idle { state.phase = .reading } }
            return state.phase
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
        let wasCancelled = state.withLock { state in
            if state.phase == .reading { state.phase = .idle }
            return state.phase == .cancelled
        }
        if wasCancelled { cancel() }
    }

    /// Ends the stream, by its reader or by its producer.
    func end(by reader: Bool) {
        let cancels = state.withLock { state in
            // The reader cancels the producer after that.
            defer { if state.phase != .ended { state.phase = reader ? .cancelled : .ended } }
            return reader && state.phase == .idle
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
