#if Engines
import BackplaneHost
import FoundationEssentials
import Glibc
import Hummingbird

/// The body of a request that has been received: in memory or, if it is long, in a file.
enum ReceivedBody: Sendable {
    case none
    case bytes([UInt8])
    case file(BodyFile)

    /// The maximum number of bytes in memory.
    static let memory = 1 << 20

    /// The reason why a body is not received.
    enum Failure: Error {
        case tooLong
        /// The body ended before its announced length.
        case incomplete
        /// The body cannot be written to a file.
        case unwritable(SystemError, path: String)
    }
}

/// The temporary file of a body, which is removed after its last use.
final class BodyFile: Sendable {
    let path: String
    private let file: FileDescriptor

    init() throws(ReceivedBody.Failure) {
        let name = "backplane-body-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let path = FileManager.default.temporaryDirectory.appending(path: name).path
        self.path = path
        do {
            file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch { throw .unwritable(error, path: path) }
    }

    deinit { unlink(path) }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) throws(ReceivedBody.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest), number = file.number
            do throws(SystemError) {
                rest = rest.dropFirst(try retryingInterrupted { Glibc.write(number, part.baseAddress, part.count) })
            } catch { throw .unwritable(error, path: path) }
        }
    }
}

/// The reader of a request's body.
///
/// `@unchecked`: only one task uses the reader at a time, and another one only after the first has ended.
final class BodyReader: @unchecked Sendable {
    private var iterator: RequestBody.AsyncIterator

    init(_ body: RequestBody) { iterator = body.makeAsyncIterator() }

    /// Receives the body.
    ///
    /// - Parameters:
    ///   - length: The announced length; `nil` for chunks.
    ///   - limit: The maximum length.
    ///   - files: The threads that write to files.
    /// - Throws: ``ReceivedBody/Failure``, or the error of the connection.
    @concurrent func receive(_ length: Int?, upTo limit: Int, files: WorkerThreads) async throws -> ReceivedBody {
        var bytes: [UInt8] = [], count = 0, file: BodyFile?
        bytes.reserveCapacity(min(length ?? 0, ReceivedBody.memory))
        while let chunk = try await iterator.next() {
            count += chunk.readableBytes
            guard count <= limit else { throw ReceivedBody.Failure.tooLong }
            guard count > ReceivedBody.memory else {
                bytes.append(contentsOf: chunk.readableBytesView)
                continue
            }
            file = try await files.run { [file, bytes] in
                let file = try file ?? BodyFile()
                try bytes.withUnsafeBytes { try file.write($0) }
                try chunk.withUnsafeReadableBytes { try file.write($0) }
                return file
            }
            bytes = []
        }
        // A connection that is closed on this side reports no error.
        guard count >= length ?? 0 else { throw ReceivedBody.Failure.incomplete }
        return file.map { .file($0) } ?? (bytes.isEmpty ? .none : .bytes(bytes))
    }

    /// Reads and drops the rest of the body, up to a number of bytes.
    @concurrent func drop(atMost limit: Int) async throws {
        var count = 0
        while count <= limit, let chunk = try await iterator.next() { count += chunk.readableBytes }
    }
}
#endif
