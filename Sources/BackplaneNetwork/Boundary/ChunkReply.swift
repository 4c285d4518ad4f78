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

    /// Passes borrowed bytes on.
    package func end(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer {
            done(context.raw, Int32(BP_OK), bp_bytes(data: $0.baseAddress, length: $0.count), nil, 0)
        }
    }

    /// Reports the end of the body, with its trailer fields.
    package func end(trailers: HTTPHeaders) {
        if trailers.fields.isEmpty { return done(context.raw, Int32(BP_OK), .empty, nil, 0) }
        trailers.withPairs { done(context.raw, Int32(BP_OK), .empty, $0.baseAddress, $0.count) }
    }

    package func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { done(context.raw, answer.status, $0, nil, 0) }
    }
}

extension HTTPBodyPart {
    /// Copies a borrowed piece of a body.
    ///
    /// - Throws: The error that arrived instead.
    package init(copying chunk: bp_bytes, _ status: Int32, _ trailers: UnsafePointer<bp_pair>?, _ count: Int)
        throws(BackplaneError)
    {
        guard status == Int32(BP_OK) else { throw EncodedAnswer(status, chunk).error }
        let bytes = chunk.array
        self = bytes.isEmpty ? .end(trailers: HTTPHeaders(copying: trailers, count: count)) : .bytes(bytes)
    }
}
