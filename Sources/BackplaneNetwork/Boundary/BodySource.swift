package import Backplane
package import CBackplane
import Synchronization

/// The body of a component's request, which the host pulls while it is sent.
final class BodySource: Sendable {
    private let body: HTTPBody
    /// The pieces of the current reading of the body.
    private let pieces: Mutex<PieceChannel>
    let length: Int64?

    init(_ body: HTTPBody) throws {
        let stream = try body.open()
        (self.body, length) = (body, stream.length)
        pieces = Mutex(PieceChannel(stream))
    }

    /// Lends the source to the host, which always calls its `release`.
    func withC<Result>(_ use: (UnsafePointer<bp_source>) -> Result) -> Result {
        let flags = body.isReplayable ? UInt32(BP_SOURCE_REPLAYABLE) : 0
        var source = bp_source(
            size: UInt32(MemoryLayout<bp_source>.size), flags: flags, length: length ?? -1,
            pull: { context, max, done, doneContext in
                BodySource.at(context).pull(max, ChunkReply(done, doneContext))
            },
            rewind: { context, done, doneContext in BodySource.at(context).rewind(Reply(done, doneContext)) },
            cancel: { context in BodySource.at(context).cancel() },
            release: { context in
                let source = Unmanaged<BodySource>.fromOpaque(context!).takeRetainedValue()
                source.cancel()
            }, context: Unmanaged.passRetained(self).toOpaque())
        if !body.isReplayable { source.rewind = nil }
        return use(&source)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> BodySource {
        guard let context else { preconditionFailure("a source was called without its context") }
        return Unmanaged<BodySource>.fromOpaque(context).takeUnretainedValue()
    }

    private func pull(_ max: UInt64, _ reply: ChunkReply) {
        do throws(BackplaneError) {
            try pieces.withLock(\.self).read(upTo: Int(clamping: max)) { piece in
                reply.end(piece.mapError { .bodyFailed($0) })
            }
        } catch {
            reply.end(error)
        }
    }

    private func rewind(_ reply: Reply) {
        do {
            let again = PieceChannel(try body.open())
            let earlier = pieces.withLock { pieces in
                defer { pieces = again }
                return pieces
            }
            earlier.fail(CancellationError())
            reply.end(EncodedAnswer([]))
        } catch {
            reply.end(.bodyFailed(error))
        }
    }

    private func cancel() { pieces.withLock(\.self).fail(CancellationError()) }
}

extension BackplaneError {
    package static func bodyFailed(_ error: any Error, at url: String? = nil) -> BackplaneError {
        switch error {
        case let error as BackplaneError: error
        case is CancellationError: BackplaneError(.callCancelled, "the exchange was cancelled")
        default: BackplaneError(.networkBody, "the request's body failed: \(error)", at: url)
        }
    }
}

/// The destination of a body's next piece: a callback and its context, called exactly once.
package struct ChunkReply: Sendable {
    private let done: bp_chunk
    private let context: ForeignPointer

    package init(_ done: @escaping bp_chunk, _ context: UnsafeMutableRawPointer?) {
        (self.done, self.context) = (done, ForeignPointer(raw: context))
    }

    package func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { done(context.raw, answer.status, $0) }
    }

    package func end(_ piece: Result<[UInt8]?, BackplaneError>) {
        switch piece {
        case .success(let bytes): (bytes ?? []).withBytes { done(context.raw, Int32(BP_OK), $0) }
        case .failure(let error): end(error)
        }
    }
}

extension Result<[UInt8]?, BackplaneError> {
    /// Copies a borrowed piece of a body, or the error that arrived instead; an empty piece is the end.
    package init(copying chunk: bp_bytes, _ status: Int32) {
        guard status == Int32(BP_OK) else {
            self = .failure(EncodedAnswer(status, chunk).error)
            return
        }
        let bytes = chunk.array
        self = .success(bytes.isEmpty ? nil : bytes)
    }
}

/// The task that waits for the next piece of a body, whose reading crosses the boundary.
typealias ChunkReader = UnsafeContinuation<Result<[UInt8]?, BackplaneError>, Never>

let resumeReader: bp_chunk = { context, status, chunk in
    Box<ChunkReader>.take(context).resume(returning: Result(copying: chunk, status))
}
