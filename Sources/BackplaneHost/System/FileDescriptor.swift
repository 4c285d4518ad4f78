import Backplane
import CBackplaneHost
import Glibc

/// An open file, which is closed when the value is destroyed.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Creates a descriptor by opening `path` with `O_…` flags; `mode` matters only if `O_CREAT` creates the file.
    ///
    /// Child processes do not inherit it, because a lock held by a child would look like a running host.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        // The system would read a path only up to a zero byte, and open another file.
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        number = try retryingInterrupted { open(path, flags | O_CLOEXEC, mode) }
    }

    private init(openingIn folder: borrowing FileDescriptor, _ name: String, _ flags: Int32) throws(SystemError) {
        let parent = folder.number
        number = try retryingInterrupted { openat(parent, name, flags | O_CLOEXEC) }
    }

    /// Creates a descriptor that takes ownership of an open descriptor number, such as that of a socket.
    package init(adopting number: Int32) { self.number = number }

    deinit {
        _ = close(number)
    }
}

extension FileDescriptor {
    /// Creates a descriptor for reading `path`, but only below `folder`.
    ///
    /// Each component of the path is opened separately; `..` and symbolic links are refused.
    ///
    /// - Throws: `EXDEV` if the path would leave the folder, `ELOOP` for a symbolic link, or the error of opening.
    init(readingBeneath folder: String, _ path: String) throws(SystemError) {
        let parts = FilePath.names(in: path)
        guard let last = parts.last, path.utf8.first != UInt8(ascii: "/"), !parts.contains(".."), !path.utf8.contains(0)
        else {
            throw SystemError(EXDEV)
        }
        var current = try FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        // Without O_NONBLOCK, opening a pipe would block. With O_DIRECTORY, a link would be ENOTDIR, as a file is.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        for part in parts.dropLast() { current = try FileDescriptor(openingIn: current, part, flags) }
        self = try FileDescriptor(openingIn: current, last, flags)
    }

    /// Whether any process has this file open for writing; `nil` if unknown.
    ///
    /// For example, it is unknown for another user's file.
    ///
    /// The file must be open for reading. The check takes a lease and releases it; the kernel grants a lease only if
    /// there is no writer. A process that opens the file for writing in between waits for the release.
    package var isOpenForWriting: Bool? {
        // The kernel reports the arrival of a writer with a signal: SIGIO by default, which ends the process; SIGURG is
        // ignored.
        guard fcntl(number, Self.setSignal, SIGURG) == 0 else { return nil }
        guard fcntl(number, Self.setLease, Int32(F_RDLCK)) == 0 else { return errno == EAGAIN ? true : nil }
        _ = fcntl(number, Self.setLease, Int32(F_UNLCK))
        return false
    }

    /// The constants `F_SETSIG` and `F_SETLEASE`, which the headers declare only with `_GNU_SOURCE`.
    private static let setSignal: Int32 = 10, setLease: Int32 = 1_024
}

extension FileDescriptor {
    /// Copies everything from the current position into `target` in chunks, and returns the number of bytes.
    ///
    /// Copying stops after more than `limit` bytes, so that a file that grows while it is read does not fill the disk.
    package borrowing func copy(to target: borrowing FileDescriptor, limit: Int) throws(SystemError) -> Int {
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var total = 0
        while true {
            let count = try chunk.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                try fill(UnsafeMutableRawBufferPointer(buffer))
            }
            try target.write(chunk.prefix(count))
            total += count
            if count < chunk.count || total > limit { return total }
        }
    }

    borrowing func setModified(_ time: FileStatus.Timestamp) throws(SystemError) {
        let time = timespec(tv_sec: time.seconds, tv_nsec: time.nanoseconds)
        guard futimens(number, [time, time]) == 0 else { throw .last }
    }

    /// Returns the next `count` bytes, or fewer if the file ends earlier.
    package borrowing func bytes(count: Int) throws(SystemError) -> [UInt8] {
        var problem: SystemError?
        // Uninitialised, because `count` may be far more than the file contains.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) { filled = try fill(UnsafeMutableRawBufferPointer(buffer)) } catch {
                problem = error
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Returns the bytes of a range, independent of the current position, or fewer if the file ends earlier.
    borrowing func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
        let number = number
        var bytes = [UInt8](repeating: 0, count: range.count), filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted {
                bytes.withUnsafeMutableBytes {
                    pread(number, $0.baseAddress! + filled, $0.count - filled, range.lowerBound + filled)
                }
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }

    /// Returns up to `count` bytes that a pipe has at this moment.
    borrowing func available(_ count: Int) -> [UInt8] {
        let number = number
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Glibc.read(number, buffer.baseAddress, count))
        }
    }

    /// Returns the next `count` bytes of a pipe that was opened without blocking, or fewer if it ends earlier.
    ///
    /// - Parameters:
    ///   - patience: The time to wait for the first bytes, and again for each of the next ones.
    ///   - limit: The time to wait altogether.
    /// - Throws: `ETIMEDOUT`.
    package borrowing func bytesOfPipe(count: Int, patience: Duration, limit: Duration) throws(SystemError) -> [UInt8] {
        let number = number, end = Deadline.now + limit
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            // Until its first writer opens it, a pipe looks as if it had ended.
            let left = min(Deadline.now + patience, end).nanoseconds - Deadline.now.nanoseconds
            var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let ready = try retryingInterrupted { poll(&entry, 1, Int32(clamping: max(0, left) / 1_000_000)) }
            guard ready > 0 else { throw SystemError(ETIMEDOUT) }
            let size = min(chunk.count, count - bytes.count)
            let read = chunk.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, size) }
            if read == 0 { return bytes }
            if read > 0 { bytes += chunk[..<read] } else if errno != EAGAIN, errno != EINTR { throw .last }
        }
        return bytes
    }

    borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
        let number = number
        var rest = bytes
        while !rest.isEmpty {
            rest = try rest.dropFirst(
                retryingInterrupted { rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) } })
        }
    }

    /// Reads until `bytes` is full or the file ends, and returns the number of bytes read.
    private borrowing func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let number = number
        var filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted { read(number, bytes.baseAddress! + filled, bytes.count - filled) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}

extension FileDescriptor {
    /// Copies a file of `size` bytes into an empty one by the cheapest available method, and returns the number of
    /// bytes.
    ///
    /// If the file system supports it, the copy is a clone, which shares its storage until one of the files is written
    /// to. Otherwise the kernel copies the bytes, or this process does so through a buffer. A file that is written to
    /// in the meantime can contain fewer or more bytes than `size`; the caller also compares its status before and
    /// after.
    ///
    /// - Precondition: Both files are positioned at their start, and `target` is empty.
    borrowing func copyContents(_ size: Int, to target: borrowing FileDescriptor) throws(SystemError) -> Int {
        if bph_share_contents(number, target.number) != 0 { return size }
        var copied = 0
        while copied < size {
            let count = bph_copy_inside(number, target.number, Int64(size - copied))
            if count < 0, errno == EINTR { continue }
            // Bytes that the kernel cannot copy may still be readable, or reading reports the reason.
            if count <= 0 { break }
            copied += Int(count)
        }
        return copied < size ? copied + (try copy(to: target, limit: size - copied)) : copied
    }

    /// Releases the storage of some pages of the file, if the file system supports this; they then read as zeros.
    borrowing func punchHole(at range: Range<Int>) {
        // Includes the rest of the last page, which the file may not fill: a file system releases only whole blocks.
        let page = Int(getpagesize()), length = (range.count + page - 1) / page * page
        _ = bph_punch_hole(number, Int64(range.lowerBound), Int64(length))
    }

    /// Returns whether a range of the file has no storage and therefore reads as zeros.
    borrowing func isHole(_ range: Range<Int>) -> Bool {
        let next = lseek(number, range.lowerBound, Self.seekData)
        return next < 0 ? errno == ENXIO : next >= range.upperBound
    }

    /// The constant `SEEK_DATA`, which the headers declare only with `_GNU_SOURCE`.
    private static let seekData: Int32 = 3

    /// Returns whether two files contain the same bytes in a range; unreadable bytes count as different.
    borrowing func isSame(as other: borrowing FileDescriptor, in range: Range<Int>) -> Bool {
        // Files that differ mostly do so near the beginning, so that one small piece is enough.
        let pieces = stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16).map {
            $0..<min($0 + 1 << 16, range.upperBound)
        }
        for piece in pieces {
            guard let ours = try? bytes(in: piece), let theirs = try? other.bytes(in: piece), ours == theirs,
                ours.count == piece.count
            else { return false }
        }
        return true
    }
}

/// Repeats a system call as long as signals interrupt it; throws an error for any other failure.
@discardableResult
package func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw .last }
    }
}

/// The metadata of a file, which is known without reading it.
///
/// Two equal values for one path mean that the file was not written to in between.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case file = "a regular file"
        case folder = "a folder"
        case link = "a symbolic link"
        case other = "neither a file nor a folder"
    }

    package let kind: Kind
    package let isSocket: Bool
    package let owner: UInt32
    package let group: UInt32
    package let mode: UInt32
    package let size: Int
    package let device, inode: UInt64
    package let modified: Timestamp

    package struct Timestamp: Sendable, Hashable {
        package let seconds, nanoseconds: Int
    }

    package init(of file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.number
        var raw = stat()
        try retryingInterrupted { fstat(number, &raw) }
        self.init(raw)
    }

    /// Creates the status of the file at `path`; for a symbolic link, of the link itself.
    package init(at path: String) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        var raw = stat()
        try retryingInterrupted { lstat(path, &raw) }
        self.init(raw)
    }

    private init(_ raw: stat) {
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        isSocket = raw.st_mode & S_IFMT == S_IFSOCK
        owner = raw.st_uid
        group = raw.st_gid
        mode = raw.st_mode & 0o7777
        size = Int(raw.st_size)
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        modified = Timestamp(seconds: raw.st_mtim.tv_sec, nanoseconds: raw.st_mtim.tv_nsec)
    }
}

extension FileStatus {
    package var isWritableByOthers: Bool { mode & 0o002 != 0 }
    package var isWritableByAnyoneElse: Bool { mode & 0o022 != 0 }
    package var modeText: String { String(mode, radix: 8) }
}

/// A failed system call: its error number and the system's description of it.
///
/// It does not state what was attempted; callers convert it into a `BackplaneError` that does.
package struct SystemError: Error, Sendable, Hashable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The error in `errno` after the last failed call of this thread.
    package static var last: SystemError { SystemError(errno) }
}

extension SystemError: CustomStringConvertible {
    package var description: String { String(cString: strerror(number)) }
}
