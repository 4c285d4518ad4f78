#if Engines
import Glibc

/// A file that is read in parts, some of which the disk may be unable to read.
final class PageFile: Sendable {
    private let descriptor: Int32
    let size: Int

    /// Opens a file, or returns `nil` if that fails.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Returns bytes at an offset, or `nil` if they are beyond the end of the file or the disk fails to read them.
    func bytes(at offset: Int, count: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset + count <= size else { return nil }
        var isWhole = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if read < 0 && errno == EINTR { continue }
                guard read > 0 else { return }
                filled += read
            }
            isWhole = true
        }
        return isWhole ? bytes : nil
    }
}
#endif
