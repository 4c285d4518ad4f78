#if Engines
import Backplane
import BackplaneStorage
import Foundation
import Glibc

/// The lock that is held while a store is open, shared by all processes that have it open.
///
/// If it can be acquired exclusively, no other process has the store open. It is on a separate file,
/// `store.sqlite.lock`, which is never removed, so that it does not interfere with SQLite's locks on the database. A
/// second lock on that file is exclusive and held while the store is being opened.
final class StoreLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// The constant `F_OFD_SETLK` of `<fcntl.h>`, which Swift does not import.
    private static let setOpenFileLock: Int32 = 37

    /// Waits until no other process is opening the store, and acquires both locks.
    ///
    /// Opening can take as long as checking or repairing the store.
    ///
    /// - Parameters:
    ///   - store: The path of the store.
    ///   - limit: The longest wait.
    /// - Throws: `store.unusable` if the lock's file cannot be opened, or the wait exceeds the limit.
    init(of store: String, limit: Duration = .seconds(600)) throws(BackplaneError) {
        path = store + ".lock"
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusableFile(errno, at: store) }
        let end = ContinuousClock.now + limit
        while !setOpening(Int16(F_WRLCK)) {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                throw .unusableFile(errno, at: store)
            }
            guard ContinuousClock.now < end else {
                throw BackplaneError(
                    .storeUnusable,
                    "another process has been opening the store for \(limit.components.seconds) seconds", at: store)
            }
            usleep(10_000)
        }
        // Does not wait: only the store that is being opened, now this one, ever takes this lock exclusively.
        while flock(descriptor, LOCK_SH) != 0 && errno == EINTR {}
    }

    deinit {
        // A process that another thread is starting has a copy of the descriptor until it runs its program, and the
        // lock would last as long as the copy.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Returns whether no other process has the store open; this remains valid until ``endOpening()``.
    func isAlone() -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            _ = flock(descriptor, LOCK_SH)
            return true
        }
        _ = flock(descriptor, LOCK_SH)
        return false
    }

    /// Runs a function only if no process has the store open or is opening it.
    func whenLast(_ body: () -> Void) {
        for _ in 0..<100 {
            if setOpening(Int16(F_WRLCK)) {
                if isAlone() { body() }
                return endOpening()
            }
            usleep(1_000)
        }
    }

    /// Releases the opening lock, so that others can open the store.
    func endOpening() { _ = setOpening(Int16(F_UNLCK)) }

    /// Acquires or releases the opening lock, without waiting.
    ///
    /// It belongs to the open file description, so that it also works between two stores of one process.
    ///
    /// - Parameter type: `F_WRLCK` or `F_UNLCK`.
    /// - Returns: `false` if the system refuses, with the reason in `errno`.
    private func setOpening(_ type: Int16) -> Bool {
        var lock = Glibc.flock()
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, Self.setOpenFileLock, &lock) == 0
    }

    /// The other processes that have the store open according to `/proc/locks`, as the subject of a sentence.
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
