package import Backplane
package import FoundationEssentials
import Glibc
import Synchronization

/// A file that is written next to its destination, and moved there when it is complete.
///
/// While it is being written, it is locked (`flock(2)`) and has a name that no file of a component has. A file without
/// a lock was left behind by a killed process, unless it is complete and being validated.
package final class IncomingFile: @unchecked Sendable {  // used by one thread at a time
    private static let mark = ".backplane-incoming-"
    private static let judgedMark = ".backplane-judged-"
    private let path: String
    /// The path of the file until it is finished.
    package let temporary: String
    private let number: Int32
    private var count: Int64 = 0
    private var isOpen = true

    package init(_ path: String) throws(BackplaneError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw BackplaneError(.networkFile, "this path does not name a file to write to", at: path)
        }
        self.path = path
        (temporary, number) = try Self.locked(beside: path)
        Self.opened.wrappingAdd(1, ordering: .relaxed)
    }

    private static let opened = Atomic(0)
    package static var openCount: Int { opened.load(ordering: .acquiring) }

    /// Creates a locked file, and returns its path and its descriptor.
    private static func locked(beside path: String) throws(BackplaneError) -> (String, Int32) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        while true {
            let temporary = String(folder + mark + digits)
            let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw failure(path) }
            // On a file system without locks, the search for abandoned files does not acquire a lock either.
            let isTaken = flock(number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            var status = stat()
            if !isTaken, fstat(number, &status) == 0, status.st_nlink > 0 { return (temporary, number) }
            close(number)  // it was removed as abandoned before it was locked
        }
    }

    private static var digits: String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Returns a path next to another path, for a complete file that has yet to be validated.
    static func judged(beside path: String) -> String {
        (path.lastIndex(of: "/").map { path[...$0] } ?? "") + judgedMark + digits
    }

    /// Removes the files that downloads of killed processes have left in a folder and its subfolders.
    ///
    /// A complete file is not locked while it is validated, so it is kept for ten minutes.
    package static func removeAbandoned(in folder: String) {
        // Links are followed neither by the list nor by the code below.
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] where isIncoming(path) {
            removeUnlocked(folder + "/" + path, unchangedFor: path.contains(judgedMark) ? 600 : 0)
        }
    }

    /// Removes the files that downloads of killed processes have left in the folder of a file, without its subfolders.
    package static func removeAbandoned(beside path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where isIncoming(name) {
            removeUnlocked(folder + name, unchangedFor: name.hasPrefix(judgedMark) ? 600 : 0)
        }
    }

    /// Removes a regular file that no process has locked and that has not been written to for some seconds.
    private static func removeUnlocked(_ path: String, unchangedFor seconds: Int = 0) {
        let number = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            seconds == 0 || time(nil) - status.st_mtim.tv_sec >= seconds, flock(number, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlink(path)
    }

    private static func isIncoming(_ path: String) -> Bool {
        let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        guard let mark = [mark, judgedMark].first(where: name.hasPrefix) else { return false }
        let number = name.dropFirst(mark.count)
        return number.utf8.count == 16
            && number.utf8.allSatisfy { $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    deinit { if isOpen { discard() } }

    package func write(_ bytes: some ContiguousBytes) throws(BackplaneError) {
        let (size, written) = bytes.withUnsafeBytes { ($0.count, $0.write(to: number, at: count)) }
        guard written == size else { throw Self.failure(path) }
        count += Int64(size)
    }

    /// Moves the file to its destination, and returns the number of its bytes.
    ///
    /// - Parameter survivesPowerFailure: A Boolean value that indicates whether the file is first written to the disk.
    package func finish(survivesPowerFailure: Bool = true) throws(BackplaneError) -> Int64 {
        guard !survivesPowerFailure || fsync(number) == 0, rename(temporary, path) == 0 else {
            throw Self.failure(path)
        }
        isOpen = false
        close(number)
        Self.opened.wrappingSubtract(1, ordering: .relaxed)
        return count
    }

    package func discard() {
        guard isOpen else { return }
        isOpen = false
        close(number)
        unlink(temporary)
        Self.opened.wrappingSubtract(1, ordering: .releasing)
    }

    private static func failure(_ path: String) -> BackplaneError {
        BackplaneError(
            .networkFile, "the body cannot be written to this file: \(String(cString: strerror(errno)))", at: path)
    }
}

extension UnsafeRawBufferPointer {
    /// Writes the bytes, and returns the number of written bytes; if not all were written, `errno` has the reason.
    package func write(to file: Int32, at offset: Int64) -> Int {
        var done = 0
        while done < count {
            let rest = UnsafeRawBufferPointer(rebasing: self[done...])
            let written = pwrite(file, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            done += written
        }
        return done
    }
}
