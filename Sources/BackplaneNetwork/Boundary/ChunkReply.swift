package import Backplane
package import CBackplane

/// The destination of a body's next piece: a callback and its context, called exactly once.
package struct ChunkReply: Sendable {
    private let done: bp_chunk
    /// The caller's context, which is passed back unchanged.
    private let context: ForeignPointer

    package init(_ done: @escaping bp_chunk, _ context: UnsafeMutableRawPointer?) {
        (self.done, self.context) = (done, ForeignPointer(raw: context))
    }

    /// Passes borrowed bytes on; an empty slice is the end of the body.
    package func end(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer {
            done(context.raw, Int32(BP_OK), bp_bytes(data: $0.baseAddress, length: $0.count))
        }
    }

    package func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { done(context.raw, answer.status, $0) }
    }

    /// Ends with a piece, the end of the body, or an error.
    package func end(_ piece: Result<[UInt8]?, BackplaneError>) {
        switch piece {
        case .success(let bytes): end(bytes?[...] ?? [])
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

/// The function that resumes a boxed reader.
let resumeReader: bp_chunk = { context, status, chunk in
    Box<ChunkReader>.take(context).resume(returning: Result(copying: chunk, status))
}
