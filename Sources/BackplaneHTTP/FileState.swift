#if Engines
import Glibc

/// The state of a file, which shows whether it was changed or replaced.
///
/// It consists of metadata that the system reports without reading the file, at the cost of one `stat(2)` per exchange.
struct FileState: Hashable, Sendable {
    private let device, inode: UInt64
    private let size: Int64
    /// The times at which the content and the file's properties changed, in seconds and nanoseconds.
    private let changed: [Int]

    /// Creates the state of the file at a path; all missing files have the same state.
    init(of path: String) {
        var status = stat()
        _ = stat(path, &status)
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        size = Int64(status.st_size)
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
#endif
