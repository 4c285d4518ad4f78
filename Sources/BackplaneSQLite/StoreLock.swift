#if Engines
import Backplane
import BackplaneStorage
import Foundation
import Glibc

/// The lock that a process holds for as long as it has a store open.
///
/// It is shared by all who have the store open, and so tells whether somebody else has. It lies on a file of its own, `store.sqlite.lock`,
/// which stays: SQLite's locks on the database are its own business.
final class StoreLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// `F_OFD_SETLK` of `<fcntl.h>`, which Swift does not import.
    private static let setOpenFileLock: Int32 = 37

    /// Waits until no other process is opening the store, which takes as long as to check or repair it.
    ///
    /// - Throws: `store.unusable` when the lock's file cannot be opened, or somebody opens the store for longer than `limit` seconds.
    init(of store: String, limit: Double = 600) throws(BackplaneError) {
        path = store + ".lock"
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusableFile(errno, at: store) }
        let end = ContinuousClock.now + .seconds(limit)
        while !setOpening(Int16(F_WRLCK)) {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                let number = errno
                close(descriptor)
                throw .unusableFile(number, at: store)
            }
            guard ContinuousClock.now < end else {
                close(descriptor)
                throw BackplaneError(
                    .storeUnusable, "another process has been opening the store for \(Int(limit)) seconds", at: store)
            }
            usleep(10_000)
        }
        // In the way only of those who open, and they wait for the other lock.
        while flock(descriptor, LOCK_SH) != 0 && errno == EINTR {}
    }

    deinit { close(descriptor) }

    /// Whether nobody else has the store open, until ``endOpening()``.
    func isAlone() -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            _ = flock(descriptor, LOCK_SH)
            return true
        }
        _ = flock(descriptor, LOCK_SH)
        return false
    }

    /// Lets others open the store.
    func endOpening() { _ = setOpening(Int16(F_UNLCK)) }

    /// Opens are one at a time, in one process as between several: the lock belongs to the open file.
    private func setOpening(_ type: Int16) -> Bool {
        var lock = Glibc.flock()
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, Self.setOpenFileLock, &lock) == 0
    }

    /// Those who have the store open besides this process, as the system lists them, for messages.
    var others: String {
        var status = stat()
        fstat(descriptor, &status)
        let locks = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        let own = ProcessInfo.processInfo.processIdentifier
        let processes = Set(
            locks.split(separator: "\n").compactMap { line -> Int32? in
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.contains("FLOCK"), fields.contains(where: { $0.hasSuffix(":\(status.st_ino)") }),
                    let place = fields.firstIndex(of: "ADVISORY")
                else { return nil }
                return fields.dropFirst(place + 2).first.flatMap { Int32($0) }
            }
        ).subtracting([own]).sorted()
        let names = processes.map { process in
            let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?.trimmingCharacters(
                in: .whitespacesAndNewlines)
            return name.map { "\(process) (\($0))" } ?? "\(process)"
        }
        switch names.count {
        case 0: return "another open store of this process"
        case 1: return "process \(names[0])"
        default: return "processes \(names.joined(separator: ", "))"
        }
    }
}
#endif
