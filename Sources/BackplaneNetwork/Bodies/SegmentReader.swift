import Backplane
import Glibc
import Synchronization

/// A piece of a body that can be read again.
package enum BodySegment: Sendable {
    case bytes([UInt8])
    case file(String)
}

/// A reader of a body's segments, which opens each file when it reaches it.
final class SegmentReader: Sendable {
    private struct State {
        var segments: ArraySlice<(segment: BodySegment, length: Int64)>
        /// The bytes that are being read, if they exceed one chunk.
        var bytes: ArraySlice<UInt8> = []
        /// The file that is being read, with the number of remaining bytes.
        var file: (file: OpenFile, path: String, rest: Int64)?
    }
    private static let chunkSize = 128 << 10
    let length: Int64
    private let state: Mutex<State>

    init(_ segments: [BodySegment]) throws(BackplaneError) {
        var measured: [(segment: BodySegment, length: Int64)] = [], length: Int64 = 0
        for segment in segments {
            let count: Int64 =
                switch segment {
                case .bytes(let bytes): Int64(bytes.count)
                case .file(let path): try OpenFile(reading: path).size(of: path)
                }
            measured.append((segment, count))
            length += count
        }
        self.length = length
        state = Mutex(State(segments: measured[...]))
    }

    func next() throws(BackplaneError) -> [UInt8]? {
        try state.withLock { state throws(BackplaneError) in
            while true {
                if !state.bytes.isEmpty {
                    defer { state.bytes = state.bytes.dropFirst(Self.chunkSize) }
                    return Array(state.bytes.prefix(Self.chunkSize))
                }
                if let (file, path, rest) = state.file {
                    guard rest > 0 else {
                        state.file = nil
                        continue
                    }
                    let chunk = try file.read(upTo: Int(min(rest, Int64(Self.chunkSize))), of: path)
                    guard !chunk.isEmpty else { throw .changed(path) }
                    state.file?.rest -= Int64(chunk.count)
                    return chunk
                }
                guard let (segment, length) = state.segments.popFirst() else { return nil }
                switch segment {
                case .bytes(let bytes):
                    if bytes.count > Self.chunkSize {
                        state.bytes = bytes[...]
                    } else if !bytes.isEmpty {
                        return bytes
                    }
                case .file(let path):
                    let file = try OpenFile(reading: path)
                    guard try file.size(of: path) == length else { throw .changed(path) }
                    state.file = (file, path, length)
                }
            }
        }
    }
}

private final class OpenFile: Sendable {
    private let number: Int32

    init(reading path: String) throws(BackplaneError) {
        // The system would end the path at a zero byte, and open another file.
        guard !path.utf8.contains(0) else { throw .unreadable(path, EINVAL) }
        // Not blocking, because opening a pipe would wait for its writer.
        number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .unreadable(path, errno) }
    }

    deinit { close(number) }

    func size(of path: String) throws(BackplaneError) -> Int64 {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .networkBody, "the request's body names \(path), which is not a regular file; use `.stream`")
        }
        return Int64(status.st_size)
    }

    func read(upTo count: Int, of path: String) throws(BackplaneError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var result: Int
            repeat { result = Glibc.read(number, buffer.baseAddress, count) } while result < 0 && errno == EINTR
            if result < 0 { failure = errno }
            filled = max(0, result)
        }
        guard failure == 0 else { throw .unreadable(path, failure) }
        return bytes
    }
}

extension BackplaneError {
    fileprivate static func unreadable(_ path: String, _ number: Int32) -> BackplaneError {
        BackplaneError(
            .networkBody, "the request's body cannot be read from \(path): \(String(cString: strerror(number)))")
    }

    fileprivate static func changed(_ path: String) -> BackplaneError {
        BackplaneError(.networkBody, "the request's body is read from \(path), which was changed while it was sent")
    }
}
