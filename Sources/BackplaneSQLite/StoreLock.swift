#if Engines
import Backplane
import BackplaneStorage
import Foundation
import Glibc

/// The lock of the process that has a store open, on the file `store.sqlite.lock`.
///
/// The file is never removed, and names the owner of the store. The lock is not on the database itself, so that it does
/// not interfere with SQLite's locks.
final class StoreLock: Sendable {
    private let descriptor: Int32

    /// Acquires the lock.
    ///
    /// If this process has the store open, waits for at most a second, because the store may be about to close.
    ///
    /// - Parameter store: The path of the store.
    /// - Throws: `store.unusable` if the store is open already, or the lock's file cannot be opened.
    init(of store: String) throws(BackplaneError) {
        descriptor = try FileLock.open(store + ".lock", for: store)
        for attempt in 0... {
            guard !FileLock.set(F_WRLCK, on: descriptor) else { break }
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else { throw .unusableFile(errno, at: store) }
            // An owner writes its name right after it has acquired the lock.
            let owner = (try? String(contentsOfFile: store + ".lock", encoding: .utf8)) ?? ""
            guard owner.hasPrefix("process \(getpid()) "), attempt < 100 else {
                throw BackplaneError(
                    .storeUnusable,
                    "\(owner.isEmpty ? "another process" : owner) has the store open; stop it, or give this host another data folder",
                    at: store)
            }
            usleep(10_000)
        }
        var owner = "process \(getpid()) (\(ProcessInfo.processInfo.processName)), since \(Date.now.ISO8601Format()),"
        _ = ftruncate(descriptor, 0)
        // On a full disk, the lock is valid without a name.
        _ = owner.withUTF8 { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    // The owner's name stays in the file; without the lock, it has no meaning.
    deinit { FileLock.end(descriptor) }
}

/// Locks on bytes of a file, which belong to the open file and so also apply between two users in one process.
enum FileLock {
    /// The constant `F_OFD_SETLK` of `<fcntl.h>`, which Swift does not import.
    private static let setOpenFileLock: Int32 = 37

    /// Opens the file of a lock, or creates it with mode 0600.
    ///
    /// - Throws: `store.unusable`.
    static func open(_ path: String, for store: String) throws(BackplaneError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusableFile(errno, at: store) }
        return descriptor
    }

    /// Acquires, converts or releases the lock on a byte without waiting; a refused conversion changes nothing.
    ///
    /// - Parameter type: `F_WRLCK`, `F_RDLCK` or `F_UNLCK`.
    /// - Returns: `false` if the system refuses, with the reason in `errno`.
    static func set(_ type: Int32, on descriptor: Int32, byte: Int = 0) -> Bool {
        var lock = Glibc.flock()
        (lock.l_type, lock.l_whence) = (Int16(type), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (byte, 1)
        return fcntl(descriptor, setOpenFileLock, &lock) == 0
    }

    /// Releases all locks and closes the file.
    static func end(_ descriptor: Int32) {
        // A process that another thread is starting has a copy of the descriptor until it runs its program, and the
        // locks would last as long as the copy.
        for byte in 0..<2 { _ = set(F_UNLCK, on: descriptor, byte: byte) }
        close(descriptor)
    }
}
#endif
