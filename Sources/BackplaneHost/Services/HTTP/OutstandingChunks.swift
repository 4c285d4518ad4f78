import Backplane
import BackplaneBoundary
import BackplaneNetwork
import CBackplane
import Synchronization

/// The pending pieces of components' bodies, by number.
///
/// A component receives a number and never a pointer, as with `Callbacks`: a duplicate answer is not found and is
/// ignored. A number does not identify a host, and the table belongs to the process.
enum OutstandingChunks {
    typealias Handler = @Sendable (Result<HTTPBodyPart, BackplaneError>) -> Void

    private static let handlers = Mutex<[UInt64: Handler]>([:])

    /// Registers another expected answer, and returns the context with which it arrives.
    static func expect(_ handler: @escaping Handler) -> UnsafeMutableRawPointer? {
        let id = Callbacks.newID()
        handlers.withLock { $0[id] = handler }
        return UnsafeMutableRawPointer(bitPattern: UInt(id))
    }

    private static func answer(_ context: UnsafeMutableRawPointer?, _ result: Result<HTTPBodyPart, BackplaneError>) {
        handlers.withLock { $0.removeValue(forKey: UInt64(UInt(bitPattern: context))) }?(result)
    }

    /// The function that receives the next piece of a body.
    static let chunk: bp_chunk = { context, status, chunk, trailers, count in
        do throws(BackplaneError) {
            answer(context, .success(try HTTPBodyPart(copying: chunk, status, trailers, count)))
        } catch {
            answer(context, .failure(error))
        }
    }

    /// The function that receives the answer to a step without a result, which is treated as an end.
    static let done: bp_done = { context, status, payload in
        let isDone = status == Int32(BP_OK)
        answer(context, isDone ? .success(.end(trailers: [:])) : .failure(EncodedAnswer(status, payload).error))
    }
}
