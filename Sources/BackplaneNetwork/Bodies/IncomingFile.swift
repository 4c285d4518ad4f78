import Backplane
import FoundationEssentials
import Glibc

/// A file that is written beside its place, and moved there when it is complete.
///
/// While it is written, it is locked (`flock(2)`): one without a lock was left by a process that was killed.
package final class IncomingFile: @unchecked Sendable {  // used by one task
    private let path: String
    private let temporary: String
    private let number: Int32
    private var count: Int64 = 0
    private var isOpen = true

    init(_ path: String) throws(BackplaneError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw BackplaneError(.networkFailed, "this is not the path of a file to write to", at: path)
        }
        self.path = path
        temporary = "\(path)\(Self.mark)\(String(UInt64.random(in: .min ... .max), radix: 36))"
        number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.failure(path) }
        flock(number, LOCK_EX | LOCK_NB)
    }

    /// Removes the files of downloads that killed processes have left in a folder and below it.
    package static func removeAbandoned(in folder: String) {
        // Links are not followed, neither by the list nor below.
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] where isIncoming(path) {
            let path = folder + "/" + path, number = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard number >= 0 else { continue }
            var status = stat()
            if fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, flock(number, LOCK_EX | LOCK_NB) == 0 {
                unlink(path)
            }
            close(number)
        }
    }

    /// Returns whether a path is one that a file has while it is written.
    private static func isIncoming(_ path: String) -> Bool {
        guard let mark = path.ranges(of: mark).last else { return false }
        let number = path[mark.upperBound...]
        return (1...13).contains(number.utf8.count) && UInt64(number, radix: 36) != nil
    }

    private static let mark = ".incoming-"

    deinit { if isOpen { discard() } }

    func write(_ bytes: [UInt8]) throws(BackplaneError) {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress! + done, $0.count - done) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(path) }
            done += written
        }
        count += Int64(bytes.count)
    }

    func finish() throws(BackplaneError) -> Int64 {
        guard rename(temporary, path) == 0 else { throw Self.failure(path) }
        isOpen = false
        close(number)
        return count
    }

    func discard() {
        guard isOpen else { return }
        isOpen = false
        close(number)
        unlink(temporary)
    }

    private static func failure(_ path: String) -> BackplaneError {
        BackplaneError(
            .networkFailed, "the body cannot be written to this file: \(String(cString: strerror(errno)))", at: path)
    }
}
