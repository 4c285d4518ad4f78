import Backplane
import BackplaneNetwork
import CBackplane
import Synchronization

/// The body of a request that a component produces, pulled across the boundary while it is sent.
///
/// The source's functions are called one after another, except for `cancel`.
final class ComponentBody: Sendable {
    private struct State {
        var attempts = 0
        /// The pieces of the open stream, until it has reached its end.
        var pieces: PieceChannel?
        /// Whether the open stream has yet to rewind the source.
        var isRewindDue = false
        /// Whether the open stream waits for a piece that was not requested.
        var isPullDue = false
        /// Whether no more streams are opened.
        var isFinal = false
        /// Whether `pull` or `rewind` has not returned.
        var isInside = false
        /// The stream whose pull or rewind the source has not answered.
        var owed: PieceChannel?
        /// The number of calls to the source's `cancel` in progress, which must not reach a later pull.
        var cancelling = 0
        var isReleased = false

        /// Begins what is due, unless a function of the source is in progress.
        mutating func nextStep() -> Step {
            guard !isInside, owed == nil, cancelling == 0, !isReleased else { return .none }
            if isFinal, pieces == nil {
                isReleased = true
                return .release
            }
            guard isPullDue, let pieces, !pieces.hasEnded else { return .none }
            (isInside, owed, isPullDue) = (true, pieces, isRewindDue)
            return isRewindDue ? .rewind(pieces) : .pull(pieces)
        }
    }
    private enum Step {
        case pull(PieceChannel)
        case rewind(PieceChannel)
        case release, none
    }
    private let source: ForeignTable<bp_source>
    private let state = Mutex(State())
    private let taken: @Sendable (Int) -> Void
    private let released: @Sendable () -> Void

    /// Creates the body of a source, which is always released.
    init(_ source: bp_source, taken: @escaping @Sendable (Int) -> Void, released: @escaping @Sendable () -> Void) {
        (self.source, self.taken, self.released) = (ForeignTable(source), taken, released)
    }

    static func check(_ source: bp_source) throws(BackplaneError) {
        guard source.pull != nil else { throw BackplaneError(.networkBody, "the body's source has no `pull`") }
        guard source.flags & UInt32(BP_SOURCE_REPLAYABLE) == 0 || source.rewind != nil else {
            throw BackplaneError(.networkBody, "the body's source is replayable, but has no `rewind` function")
        }
        guard source.length >= -1 else {
            throw BackplaneError(
                .networkBody,
                "the body's source has the length \(source.length); it must be at least -1, which means unknown")
        }
    }

    private var isReplayable: Bool { source.table.flags & UInt32(BP_SOURCE_REPLAYABLE) != 0 }

    /// Whether an executor that cannot stream may collect the body, which is in memory or files.
    var mayBeCollected: Bool { source.table.length >= 0 && isReplayable }

    var body: HTTPBody {
        .produced(
            length: source.table.length < 0 ? nil : source.table.length, isReplayable: isReplayable
        ) { try self.open() }
    }

    private func open() throws(BackplaneError) -> HTTPBodyStream {
        let pieces = PieceChannel()
        let earlier = try state.withLock { state throws(BackplaneError) in
            guard !state.isFinal else { throw .bodyUnneeded }
            guard state.attempts == 0 || isReplayable else {
                throw BackplaneError(
                    .networkBody, "the request's body has already been sent, and can be read only once")
            }
            defer { state.pieces = pieces }
            (state.isRewindDue, state.isPullDue) = (state.attempts > 0, false)
            state.attempts += 1
            return state.pieces
        }
        if let earlier { abandon(earlier, BackplaneError.bodyUnneeded) }
        return HTTPBodyStream(cancel: { self.close(pieces) }) {
            do {
                let piece = try await withTaskCancellationHandler {
                    self.change { state in state.isPullDue = state.isPullDue || state.pieces === pieces }
                    return try await pieces.next()
                } onCancel: {
                    self.abandon(pieces, CancellationError())
                }
                if let piece { self.taken(piece.count) } else { self.close(pieces) }
                return piece
            } catch {
                self.close(pieces)
                throw error
            }
        }
    }

    /// Reports that the exchange has its response, so that the body is not resent.
    func headArrived() { change { $0.isFinal = true } }

    /// Reports that the body is no longer needed.
    func exchangeEnded() {
        let (pieces, owed) = state.withLock { state in
            state.isFinal = true
            return (state.pieces.take(), state.owed)
        }
        pieces?.fail(BackplaneError.bodyUnneeded)
        if let owed { abandon(owed, BackplaneError.bodyUnneeded) }
        change { _ in }
    }

    private func close(_ pieces: PieceChannel) { change { if $0.pieces === pieces { $0.pieces = nil } } }

    /// Ends a stream for its reader, and notifies the source that a pending answer is not needed.
    private func abandon(_ pieces: PieceChannel, _ error: any Error) {
        pieces.fail(error)
        let isOwed = state.withLock { state in
            if state.owed === pieces { state.cancelling += 1 }
            return state.owed === pieces
        }
        guard isOwed else { return }
        source.table.cancel?(source.table.context)
        change { $0.cancelling -= 1 }
    }

    /// Changes the state, and calls the functions of the source that are due.
    private func change(_ change: (inout State) -> Void) {
        perform(
            state.withLock { state in
                change(&state)
                return state.nextStep()
            })
    }

    private func perform(_ step: Step) {
        let functions = source.table
        var step = step
        while true {
            switch step {
            case .pull(let pieces):
                functions.pull?(
                    functions.context, UInt64(PieceChannel.pieceSize), OutstandingChunks.chunk,
                    OutstandingChunks.expect { self.answered(pieces, $0) })
                step = returned(pieces)
            case .rewind(let pieces):
                functions.rewind?(
                    functions.context, OutstandingChunks.done,
                    OutstandingChunks.expect { self.answered(pieces, isRewind: true, $0) })
                step = returned(pieces)
            case .release:
                functions.release?(functions.context)
                return released()
            case .none: return
            }
        }
    }

    private func returned(_ pieces: PieceChannel) -> Step {
        // The stream may have been abandoned before the source learned of the pull.
        if let error = pieces.failure { abandon(pieces, error) }
        return state.withLock { state in
            state.isInside = false
            return state.nextStep()
        }
    }

    private func answered(
        _ pieces: PieceChannel, isRewind: Bool = false, _ result: Result<[UInt8]?, BackplaneError>
    ) {
        switch result {
        case .success(let bytes?) where bytes.count > PieceChannel.pieceSize:
            pieces.fail(
                BackplaneError(
                    .networkBody,
                    "the body's source returned \(bytes.count) bytes, but at most \(PieceChannel.pieceSize) were requested"
                ))
        // The piece may no longer be awaited.
        case .success(let piece): if !isRewind { try? pieces.send(piece) }
        case .failure(let error): pieces.fail(error)
        }
        let step = state.withLock { state in
            state.owed = nil
            if isRewind, state.pieces === pieces { state.isRewindDue = false }
            return state.nextStep()
        }
        switch step {
        // The source is called again only after it has finished answering.
        case .pull, .rewind: Task { perform(step) }
        case .release, .none: perform(step)
        }
    }
}

extension BackplaneError {
    fileprivate static var bodyUnneeded: BackplaneError {
        BackplaneError(.networkBody, "the request's body is no longer needed")
    }
}

/// The pending pieces of components' bodies.
enum OutstandingChunks {
    typealias Handler = @Sendable (Result<[UInt8]?, BackplaneError>) -> Void

    private static let handlers = NumberTable<Handler>()

    /// Registers another expected answer, and returns the context with which it arrives.
    static func expect(_ handler: @escaping Handler) -> UnsafeMutableRawPointer? {
        Callbacks.context(handlers.add(handler))
    }

    private static func answer(_ context: UnsafeMutableRawPointer?, _ result: Result<[UInt8]?, BackplaneError>) {
        handlers.remove(UInt64(UInt(bitPattern: context)))?(result)
    }

    static let chunk: bp_chunk = { context, status, chunk in answer(context, Result(copying: chunk, status)) }

    /// The function that receives the answer to a step without a result, which is treated as an end.
    static let done: bp_done = { context, status, payload in
        let isDone = status == Int32(BP_OK)
        answer(context, isDone ? .success(nil) : .failure(EncodedAnswer(status, payload).error))
    }
}
