#if Engines
import Backplane
import BackplaneStorage
import Glibc

/// The lock that is held while a cache is open, shared by all processes that have it open.
///
/// The lock is on the second byte of `cache.sqlite.lock`. A lock on the first byte is exclusive, and held while the
/// cache is being opened.
final class CacheLock: Sendable {
    private let descriptor: Int32

    /// Waits until no other process is opening the cache, and acquires both locks.
    ///
    /// - Throws: `store.unusable` if the lock's file cannot be opened, or the wait exceeds the limit.
    init(of cache: String, limit: Duration) throws(BackplaneError) {
        descriptor = try FileLock.open(cache + ".lock", for: cache)
        let end = ContinuousClock.now + limit
        while !FileLock.set(F_WRLCK, on: descriptor) {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else { throw .unusableFile(errno, at: cache) }
            guard ContinuousClock.now < end else {
                throw BackplaneError(
                    .storeUnusable,
                    "another process has been opening the cache for \(limit.components.seconds) seconds", at: cache)
            }
            usleep(10_000)
        }
        _ = FileLock.set(F_RDLCK, on: descriptor, byte: 1)
    }

    deinit { FileLock.end(descriptor) }

    /// Returns whether no other process has the cache open; this remains valid until ``endOpening()``.
    func isAlone() -> Bool {
        defer { _ = FileLock.set(F_RDLCK, on: descriptor, byte: 1) }
        return FileLock.set(F_WRLCK, on: descriptor, byte: 1)
    }

    /// Releases the opening lock, so that others can open the cache.
    func endOpening() { _ = FileLock.set(F_UNLCK, on: descriptor) }
}
#endif
