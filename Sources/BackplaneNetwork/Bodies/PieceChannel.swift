package import Backplane
import Synchronization

/// A state machine that hands the pieces of one body from a sender to a reader; each waits for the other.
///
/// There is at most one piece that has not been read, and at most one read that has not been answered.
package struct PieceMachine<Reader: Sendable>: Sendable {
    /// The read whose answer becomes due with a transition.
    package typealias Answered = (reader: Reader, piece: Result<[UInt8]?, any Error>)
    private var rest: ArraySlice<UInt8> = []
    private var waiting: (reader: Reader, most: Int)?
    /// The end after the last piece, possibly by an error.
    package private(set) var end: Result<Void, any Error>?

    package init() {}

    package var isBeingRead: Bool { waiting != nil }

    package mutating func read(upTo most: Int, _ reader: Reader) throws(BackplaneError) -> Answered? {
        guard waiting == nil else {
            throw BackplaneError(.networkBody, "the body is being read; wait for the answer before the next read")
        }
        waiting = (reader, most)
        return settle()
    }

    /// Accepts a piece, or `nil` for the end.
    package mutating func send(_ piece: [UInt8]?) throws(BackplaneError) -> Answered? {
        guard end == nil else { throw .bodyEnded }
        guard rest.isEmpty else {
            throw BackplaneError(.networkBody, "the previous piece has not been consumed yet")
        }
        if let piece { rest = piece[...] } else { end = .success(()) }
        return settle()
    }

    package mutating func fail(_ error: any Error) -> Answered? {
        guard end == nil else { return nil }
        (end, rest) = (.failure(error), [])
        return settle()
    }

    /// Answers the waiting read, if there is a piece or the end.
    private mutating func settle() -> Answered? {
        guard let (reader, most) = waiting else { return nil }
        if !rest.isEmpty {
            let piece = rest.prefix(most)
            (waiting, rest) = (nil, rest.dropFirst(most))
            return (reader, .success(Array(piece)))
        }
        guard let end else { return nil }
        waiting = nil
        return (reader, end.map { nil })
    }
}

/// A body that is sent and read on any threads: by the two sides of a boundary, or under the limits of an exchange.
///
/// One task pulls all chunks of a stream. A channel over a stream must therefore be read to its end or failed.
package final class PieceChannel: Sendable {
    package typealias Reader = @Sendable (Result<[UInt8]?, any Error>) -> Void

    private struct State {
        var machine = PieceMachine<Reader>()
        /// The task that pulls the chunks of the stream, one for each waiting read.
        var task: Task<Void, Never>?
        /// The continuation of that task, while it waits between two reads.
        var resting: UnsafeContinuation<Bool, Never>?
    }
    package static let pieceSize = 256 << 10
    /// The stream from which chunks are pulled when the reader waits; `nil` if they are sent.
    private let stream: HTTPBodyStream?
    private let state = Mutex(State())

    package init(_ stream: HTTPBodyStream? = nil) { self.stream = stream }

    package var isBeingRead: Bool { state.withLock { $0.machine.isBeingRead } }

    package var hasEnded: Bool { state.withLock { $0.machine.end != nil } }

    package var failure: (any Error)? {
        state.withLock { if case .failure(let error) = $0.machine.end { error } else { nil } }
    }

    /// Reads the next piece, and passes at most `most` of its bytes to `reader`.
    ///
    /// - Throws: `network.body` if the body is being read; the read then has no effect.
    package func read(upTo most: Int, _ reader: @escaping Reader) throws(BackplaneError) {
        let most = max(1, min(most, Self.pieceSize))
        let (answered, resting) = try state.withLock { state throws(BackplaneError) in
            let answered = try state.machine.read(upTo: most, reader)
            guard state.machine.isBeingRead, let stream else {
                return (answered, nil as UnsafeContinuation<Bool, Never>?)
            }
            if state.task == nil { state.task = Task { await self.pull(stream) } }
            return (answered, state.resting.take())
        }
        resting?.resume(returning: true)
        tell(answered)
    }

    /// Reads the next piece; the cancellation of the task ends the body.
    package func next() async throws -> [UInt8]? {
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
    package func send(_ piece: [UInt8]?) throws(BackplaneError) {
        tell(try state.withLock { state throws(BackplaneError) in try state.machine.send(piece) })
    }

    package func fail(_ error: any Error) {
        let (answered, task, resting) = state.withLock { state in
            (state.machine.fail(error), state.task.take(), state.resting.take())
        }
        task?.cancel()
        resting?.resume(returning: false)
        stream?.cancel()
        tell(answered)
    }

    private func pull(_ stream: HTTPBodyStream) async {
        do {
            repeat {
                let piece = try await stream.next()
                try send(piece)
            } while await isWanted()
        } catch {
            fail(error)
        }
    }

    /// Waits for a read; returns `false` once the body has ended.
    private func isWanted() async -> Bool {
        await withUnsafeContinuation { (resting: UnsafeContinuation<Bool, Never>) in
            let isWanted = state.withLock { state -> Bool? in
                if state.machine.end != nil { return false }
                if state.machine.isBeingRead { return true }
                state.resting = resting
                return nil
            }
            if let isWanted { resting.resume(returning: isWanted) }
        }
    }

    private func tell(_ answered: PieceMachine<Reader>.Answered?) {
        if let (reader, piece) = answered { reader(piece) }
    }
}

extension BackplaneError {
    package static var bodyEnded: BackplaneError {
        BackplaneError(.networkBody, "the body has ended, or its exchange")
    }
}
