#if Engines
import Backplane
import BackplaneNetwork
import NIOCore
import Synchronization

/// A request's body as passed to the library, which pulls a chunk once the previous one has been written.
final class Upload: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let length: Int64?
    private let stream: HTTPBodyStream
    private let failed = Mutex<(any Error)?>(nil)

    /// Opens a body; returns `nil` for an in-memory body, which the library accepts as a whole.
    init?(_ body: HTTPBody) throws {
        if body.bytes != nil { return nil }
        stream = try body.open()
        length = stream.length
    }

    /// The reason why the body could not be read, which the library's error does not include.
    var failure: (any Error)? { failed.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(upload: self, chunks: stream.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let upload: Upload
        fileprivate var chunks: HTTPBodyStream.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await chunks.next().map { ByteBuffer(bytes: $0) }
            } catch {
                let failure = (error as? BackplaneError) ?? .bodyFailed(error)
                upload.failed.withLock { $0 = failure }
                throw failure
            }
        }
    }
}

extension BackplaneError {
    fileprivate static func bodyFailed(_ error: any Error) -> BackplaneError {
        BackplaneError(.networkBody, "the request's body failed before it was complete: \(error)")
    }
}
#endif
