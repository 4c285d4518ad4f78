import Backplane
import BackplaneNetwork
import Synchronization

/// The pieces of one body on their way from a sender to a reader, each of whom waits for the other.
///
/// There is at most one piece that has not been read, and at most one read that has not been answered. The reader and
/// the sender are told by the channel.
struct PieceMachine<Reader: Sendable, Sender: Sendable>: Sendable {
    /// The answers that become due with a transition.
    struct Outcome: Sendable {
        var answered: (reader: Reader, piece: Result<[UInt8]?, any Error>)?
        /// The sender whose piece has been read, or was dropped because of an error.
        var told: (sender: Sender, error: (any Error)?)?
    }
    /// The bytes of the piece that have not been read, and its sender.
    private var rest: ArraySlice<UInt8> = []
    private var sender: Sender?
    private var waiting: (reader: Reader, most: Int)?
    /// The end after the last piece, possibly by an error.
    private(set) var end: Result<Void, any Error>?

    /// A Boolean value that indicates whether a read waits for a piece.
    var isBeingRead: Bool { waiting != nil }

    mutating func read(upTo most: Int, _ reader: Reader) throws(BackplaneError) -> Outcome {
        guard waiting == nil else {
            throw BackplaneError(.networkBody, "the body is being read; wait for the answer before the next read")
        }
        waiting = (reader, most)
        return settle()
    }

    /// Accepts a piece, or `nil` for the end.
    mutating func send(_ piece: [UInt8]?, _ sender: Sender?) throws(BackplaneError) -> Outcome {
        guard end == nil else { throw .bodyUnknown }
        guard rest.isEmpty else {
            throw BackplaneError(
                .networkBody, "the previous piece has not been consumed yet; wait for its answer before the next push")
        }
        if let piece { (rest, self.sender) = (piece[...], sender) } else { end = .success(()) }
        var outcome = settle()
        // An end does not wait to be read.
        if piece == nil { outcome.told = sender.map { ($0, nil) } }
        return outcome
    }

    /// Ends the body with an error, unless it has ended, and drops what has not been read.
    mutating func fail(_ error: any Error) -> Outcome {
        guard end == nil else { return Outcome() }
        (end, rest) = (.failure(error), [])
        let told = sender.take().map { ($0, error) }
        var outcome = settle()
        outcome.told = told
        return outcome
    }

    /// Answers the read that waits, if there is a piece or the end.
    private mutating func settle() -> Outcome {
        guard let (reader, most) = waiting else { return Outcome() }
        if !rest.isEmpty {
            let piece = rest.prefix(most)
            (waiting, rest) = (nil, rest.dropFirst(most))
            return Outcome(
                answered: (reader, .success(Array(piece))),
                told: rest.isEmpty ? sender.take().map { ($0, nil) } : nil)
        }
        guard let end else { return Outcome() }
        waiting = nil
        return Outcome(answered: (reader, end.map { nil }))
    }
}

/// A body between the host and a plugin, which is read and sent on any threads.
final class PieceChannel: Sendable {
    typealias Reader = @Sendable (Result<[UInt8]?, any Error>) -> Void
    /// A function that is called once the piece has been read, or with the error that ended the body.
    typealias Sender = @Sendable ((any Error)?) -> Void

    private struct State {
        var machine = PieceMachine<Reader, Sender>()
        /// The pull of the next chunk from the stream.
        var task: Task<Void, Never>?
    }
    /// The maximum number of bytes of one piece.
    static let pieceSize = 256 << 10
    /// The stream from which chunks are pulled when the reader waits; `nil` if they are sent.
    private let stream: HTTPBodyStream?
    private let state = Mutex(State())

    init(_ stream: HTTPBodyStream? = nil) { self.stream = stream }

    var isBeingRead: Bool { state.withLock { $0.machine.isBeingRead } }

    var hasEnded: Bool { state.withLock { $0.machine.end != nil } }

    /// The error that ended the body.
    var failure: (any Error)? {
        state.withLock { if case .failure(let error) = $0.machine.end { error } else { nil } }
    }

    /// Reads the next piece, of which `reader` receives at most `most` bytes.
    ///
    /// - Throws: `network.body` if the body is being read; the read has no effect then.
    func read(upTo most: Int, _ reader: @escaping Reader) throws(BackplaneError) {
        let most = max(1, min(most, Self.pieceSize))
        tell(
            try state.withLock { state throws(BackplaneError) in
                let outcome = try state.machine.read(upTo: most, reader)
                if state.machine.isBeingRead, let stream { state.task = Task { await self.pull(stream) } }
                return outcome
            })
    }

    /// Reads the next piece; the cancellation of the task ends the body.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                do throws(BackplaneError) {
                    try read(upTo: .max) { reader.resume(with: $0) }
                } catch {
                    reader.resume(throwing: error)
                }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    /// Sends a piece, or `nil` for the end.
    ///
    /// - Throws: `network.body` if the body has ended, or the previous piece has not been read.
    func send(_ piece: [UInt8]?, _ sender: Sender? = nil) throws(BackplaneError) {
        tell(try state.withLock { state throws(BackplaneError) in try state.machine.send(piece, sender) })
    }

    /// Ends the body with an error, unless it has ended.
    func fail(_ error: any Error) {
        let (outcome, task) = state.withLock { state in (state.machine.fail(error), state.task.take()) }
        task?.cancel()
        stream?.cancel()
        tell(outcome)
    }

    private func pull(_ stream: HTTPBodyStream) async {
        do {
            try send(try await stream.next())
        } catch {
            fail(error)
        }
    }

    private func tell(_ outcome: PieceMachine<Reader, Sender>.Outcome) {
        if let (reader, piece) = outcome.answered { reader(piece) }
        if let (sender, error) = outcome.told { sender(error) }
    }
}

extension BackplaneError {
    /// The error for a number that does not, or no longer, belong to a body.
    static var bodyUnknown: BackplaneError {
        BackplaneError(.networkBody, "there is no body with this number, or its exchange has ended")
    }
}
