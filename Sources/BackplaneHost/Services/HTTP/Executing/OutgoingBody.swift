import Backplane
import BackplaneNetwork
import Synchronization

/// The body of a request to a plugin executor, which pulls it piece by piece.
final class OutgoingBody: Sendable {
    private struct State {
        var stream: HTTPBodyStream?
        /// The bytes of a chunk that exceed the requested number.
        var rest: ArraySlice<UInt8> = []
        /// The pull that has not been answered.
        var reply: ChunkReply?
        var task: Task<Void, Never>?
        var failure: BackplaneError?
    }
    private let state: Mutex<State>
    /// The total number of bytes; `nil` if it is unknown.
    let length: Int64?

    /// Opens a body.
    ///
    /// - Throws: The error of opening it.
    init(_ body: HTTPBody) throws {
        let stream = try body.open()
        length = stream.length
        state = Mutex(State(stream: stream))
    }

    /// The reason why the body could not be read.
    var failure: BackplaneError? { state.withLock { $0.failure } }

    /// Answers with the next piece, of at most `most` bytes.
    func pull(_ most: Int, _ reply: ChunkReply) {
        enum Step {
            case hand(ArraySlice<UInt8>)
            case wait
            case refuse(BackplaneError)
        }
        let most = max(1, min(most, Exchange.pieceSize))
        let step = state.withLock { state -> Step in
            guard let stream = state.stream else { return .refuse(.bodyUnknown) }
            guard state.reply == nil else {
                return .refuse(
                    BackplaneError(
                        .networkBody, "the body is being pulled; wait for the answer before the next pull"))
            }
            if !state.rest.isEmpty {
                defer { state.rest = state.rest.dropFirst(most) }
                return .hand(state.rest.prefix(most))
            }
            state.reply = reply
            state.task = Task { await self.read(stream, most) }
            return .wait
        }
        switch step {
        case .hand(let bytes): reply.end(bytes)
        case .wait: break
        case .refuse(let error): reply.end(error)
        }
    }

    private func read(_ stream: HTTPBodyStream, _ most: Int) async {
        do {
            let chunk = try await stream.next()
            let reply = state.withLock { state in
                if let chunk { state.rest = chunk.dropFirst(most) }
                return state.reply.take()
            }
            if let chunk { reply?.end(chunk.prefix(most)) } else { reply?.end(trailers: stream.trailers) }
        } catch {
            let failure = BackplaneError.bodyFailed(error)
            let reply = state.withLock { state in
                if state.stream != nil { state.failure = failure }
                return state.reply.take()
            }
            reply?.end(failure)
        }
    }

    /// Ends the body, because its exchange has ended, and answers the pull in progress.
    func end() {
        let (stream, task, reply) = state.withLock { state in
            (state.stream.take(), state.task.take(), state.reply.take())
        }
        task?.cancel()
        stream?.cancel()
        reply?.end(.exchangeCancelled)
    }
}

extension BackplaneError {
    /// The error for a number that does not, or no longer, belong to a body.
    static var bodyUnknown: BackplaneError {
        BackplaneError(.networkBody, "there is no body with this number, or its exchange has ended")
    }
}
