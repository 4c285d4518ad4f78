#if Engines
import Backplane
import BackplaneHost
import Glibc
import Hummingbird

/// A file that is sent, and is open from the beginning to the end of its answer.
final class SentFile: Sendable {
    /// The reason why a file is not sent.
    struct Unreadable: Error {
        let isMissing: Bool
        let reason: String
    }
    private static let chunk = 128 << 10
    private let path: String
    private let file: FileDescriptor
    let size: Int64
    /// The time of the last change, since 1970.
    let modified: (seconds: Int64, nanoseconds: Int64)

    /// Opens a file, which may be named by a symbolic link.
    init(_ path: String) throws(Unreadable) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Unreadable(isMissing: false, reason: "expected an absolute path")
        }
        self.path = path
        let status: FileStatus
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a pipe would block.
            file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            status = try FileStatus(of: file)
        } catch {
            throw Unreadable(isMissing: error.number == ENOENT || error.number == ENOTDIR, reason: "\(error)")
        }
        guard status.kind == .file else {
            throw Unreadable(isMissing: false, reason: "expected a regular file, found \(status.kind.rawValue)")
        }
        size = Int64(status.size)
        modified = (Int64(status.modified.seconds), Int64(status.modified.nanoseconds))
    }

    /// Sends a part of the file.
    ///
    /// - Parameter threads: The threads that wait for the disk.
    /// - Throws: ``AnswerCut`` if the file cannot be read, or has become too short.
    @concurrent func send(
        _ range: Range<Int64>, to writer: inout any ResponseBodyWriter, on threads: WorkerThreads
    ) async throws {
        var place = range.lowerBound
        while place < range.upperBound {
            let size = Int(min(Int64(Self.chunk), range.upperBound - place))
            let bytes = try await threads.run { [place] in try self.bytes(at: place, atMost: size) }
            place += Int64(bytes.readableBytes)
            try await writer.write(bytes)
        }
        try await writer.finish(nil)
    }

    private func bytes(at place: Int64, atMost size: Int) throws(AnswerCut) -> ByteBuffer {
        let number = file.number
        var buffer = ByteBuffer()
        do {
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
                try retryingInterrupted { pread(number, bytes.baseAddress, size, Int(place)) }
            }
        } catch {
            throw AnswerCut(reason: BackplaneError(.callInvalidOutput, "the file cannot be read: \(error)", at: path))
        }
        guard buffer.readableBytes > 0 else {
            throw AnswerCut(reason: BackplaneError(.callInvalidOutput, "the file has become shorter", at: path))
        }
        return buffer
    }
}
#endif
