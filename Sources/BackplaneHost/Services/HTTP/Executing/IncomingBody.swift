import Backplane
import BackplaneNetwork
import CBackplane
import Synchronization

/// The body of a response that a plugin executor pushes, one piece at a time, each consumed before the next one.
final class IncomingBody: Sendable {
    private typealias Reader = CheckedContinuation<HTTPBodyPart, any Error>

    private struct State {
        /// The piece that was pushed but not yet consumed, and the pending answer to its sender.
        var piece: (bytes: [UInt8], taken: Reply)?
        var reader: Reader?
        /// The end, after the last piece.
        var end: Result<HTTPHeaders, any Error>?
        /// The number of bytes announced by the head.
        var announced: Int64?
        var count: Int64 = 0
    }
    private let state = Mutex(State())

    /// Records the number of bytes announced by the head, and checks the pieces that were pushed before.
    func expect(_ length: Int64?) {
        state.withLock { state in
            state.announced = length
            guard let length, case .success = state.end, state.count != length else { return }
            state.end = .failure(BackplaneError.wrongLength(length, state.count))
        }
    }

    // MARK: The executor's side

    /// Accepts a piece, or the end if it is empty, and answers once the reader has consumed it.
    func push(_ bytes: [UInt8], trailers: HTTPHeaders, _ reply: Reply) {
        enum Step {
            case deliver(Reader?, Result<HTTPBodyPart, any Error>)
            case fail(Reader?, BackplaneError)
            case wait
            case refuse(BackplaneError)
        }
        let step = state.withLock { state -> Step in
            guard state.end == nil else { return .refuse(.bodyUnknown) }
            guard state.piece == nil else {
                return .refuse(
                    BackplaneError(
                        .networkBody,
                        "the previous piece has not been consumed yet; wait for its answer before the next push"))
            }
            guard bytes.count <= Exchange.pieceSize else {
                return .refuse(
                    BackplaneError(
                        .networkBody,
                        "a piece may have at most \(Exchange.pieceSize) bytes, but this one has \(bytes.count)"))
            }
            state.count += Int64(bytes.count)
            if let announced = state.announced, bytes.isEmpty ? state.count != announced : state.count > announced {
                let error = BackplaneError.wrongLength(announced, state.count)
                state.end = .failure(error)
                return .fail(state.reader.take(), error)
            }
            if bytes.isEmpty {
                state.end = .success(trailers)
                return .deliver(state.reader.take(), .success(.end(trailers: trailers)))
            }
            guard let reader = state.reader.take() else {
                state.piece = (bytes, reply)
                return .wait
            }
            return .deliver(reader, .success(.bytes(bytes)))
        }
        switch step {
        case .deliver(let reader, let part):
            reader?.resume(with: part)
            reply.end(EncodedAnswer([]))
        case .fail(let reader, let error):
            reader?.resume(throwing: error)
            reply.end(error)
        case .wait: break
        case .refuse(let error): reply.end(error)
        }
    }

    /// Ends the body with an error, unless it has ended.
    func fail(_ error: any Error) {
        let (reader, piece) = state.withLock { state -> (Reader?, (bytes: [UInt8], taken: Reply)?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = .failure(error)
            return (state.reader.take(), state.piece.take())
        }
        reader?.resume(throwing: error)
        piece?.taken.end(.exchangeCancelled)
    }

    // MARK: The reader's side

    /// Returns the next piece when it is available.
    func next() async throws -> HTTPBodyPart {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let (part, taken) = state.withLock { state -> (Result<HTTPBodyPart, any Error>?, Reply?) in
                    if let piece = state.piece.take() { return (.success(.bytes(piece.bytes)), piece.taken) }
                    if let end = state.end { return (end.map { .end(trailers: $0) }, nil) }
                    state.reader = reader
                    return (nil, nil)
                }
                if let part { reader.resume(with: part) }
                taken?.end(EncodedAnswer([]))
            }
        } onCancel: {
            fail(CancellationError())
        }
    }
}

extension BackplaneError {
    fileprivate static func wrongLength(_ announced: Int64, _ count: Int64) -> BackplaneError {
        BackplaneError(
            count < announced ? .networkFailed : .networkMalformed,
            "the response announced a body of \(announced) bytes, but it has \(count < announced ? "only \(count)" : "more")"
        )
    }
}
