import Backplane
import BackplaneExchange
import BackplaneNetwork
import Glibc
import Synchronization

/// The file to which a download is written, next to its target and accompanied by its record.
///
/// Its name is derived from that of the target, so that any transfer to the same target finds it. It is locked
/// (`flock(2)`) while it is in use.
///
/// `@unchecked`: it is used by one task at a time, except for ``sync()``, which only reads the descriptors, notes a
/// failure atomically and is awaited before they are closed.
final class PartFile: @unchecked Sendable {
    /// The number of bytes after which a mark is written.
    ///
    /// After the process is killed, fewer bytes than this are fetched again, in addition to those in transit.
    static let markInterval: Int64 = 256 << 10

    let target: String
    let path: String
    private let data: Int32
    private let record: Int32
    private var sum = PartSum()
    private var isOpen = true
    /// A Boolean value that indicates whether a flush has failed.
    private let hasFailed = Atomic(false)
    /// The number of marks so far, whose slots are used cyclically.
    private var marks = 0
    private var marked: Int64 = 0
    /// The number of existing bytes that are correct.
    private(set) var count: Int64 = 0

    /// Opens or creates the part of a target, and locks it.
    ///
    /// - Throws: `network.file` if the part cannot be written; `transfer.taken` if another transfer uses it.
    init(target: String) throws(BackplaneError) {
        guard let place = TargetPath(target) else {
            throw BackplaneError(.networkFile, "this path does not name a file to download to", at: target)
        }
        (self.target, path) = (target, place.part)
        var existing = stat()
        guard stat(target, &existing) != 0 || existing.st_mode & S_IFMT != S_IFDIR else {
            throw BackplaneError(.networkFile, "this is a folder; name the file to download to", at: target)
        }
        data = try Self.open(path, target)
        var status = stat(), named = stat()
        guard flock(data, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
            // Its last user may have moved or removed it just before this lock was given.
            fstat(data, &status) == 0, stat(path, &named) == 0, status.st_ino == named.st_ino
        else {
            close(data)
            throw .targetTaken(target)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(data)
            throw BackplaneError(
                .networkFile, "expected a regular file beside the target, found another kind", at: path)
        }
        do {
            record = try Self.open(path + TargetPath.recordMark, target)
        } catch {
            close(data)
            throw error
        }
    }

    deinit { release() }

    private static func open(_ path: String, _ target: String) throws(BackplaneError) -> Int32 {
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard number >= 0 else { throw .unwritable(target) }
        return number
    }

    // MARK: What is there

    /// Reads the record, verifies the checksums of the marked bytes, and discards all other bytes.
    ///
    /// - Returns: The origin of the remaining bytes, or `nil` if the download cannot be continued; and whether there
    ///   were marked bytes, or bytes of unknown origin.
    func restore() throws(BackplaneError) -> (origin: PartOrigin?, hadBytes: Bool) {
        var status = stat()
        guard fstat(data, &status) == 0 else { throw .unwritable(target) }
        let size = Int64(status.st_size)
        let found = PartRecord(try Self.read(record, upTo: PartRecord.size, from: 0, target))
        guard let found, let mark = try lastTrue(of: found.marks, size) else {
            try truncate(to: 0)
            return (nil, found.map { !$0.marks.isEmpty } ?? (size > 0))
        }
        try truncate(to: mark.count)
        (count, marked, marks) = (mark.count, mark.count, found.marks.count)
        return (found.origin, true)
    }

    /// Returns the greatest mark whose checksum matches the file's bytes, and continues with that checksum.
    private func lastTrue(of marks: [PartMark], _ size: Int64) throws(BackplaneError) -> PartMark? {
        var position: Int64 = 0, running = PartSum(), best: PartMark?
        for mark in marks where mark.count > 0 && mark.count <= size {
            while position < mark.count {
                let wanted = Int(min(mark.count - position, 1 << 20))
                let piece = try Self.read(data, upTo: wanted, from: position, target)
                guard !piece.isEmpty else { return best }
                piece.withUnsafeBytes { running.add($0) }
                position += Int64(piece.count)
            }
            if running.value == mark.sum { (best, sum) = (mark, running) }
        }
        return best
    }

    private func truncate(to length: Int64) throws(BackplaneError) {
        guard ftruncate(data, off_t(length)) == 0 else { throw .unwritable(target) }
    }

    // MARK: Writing

    /// Empties the part, and records the origin of the bytes to come.
    func begin(_ origin: PartOrigin) throws(BackplaneError) {
        guard ftruncate(record, 0) == 0 else { throw .unwritable(target) }
        try truncate(to: 0)
        (count, marked, marks, sum) = (0, 0, 0, PartSum())
        try write(PartRecord(origin: origin).originBytes, to: record, at: 0)
        // The marks have room from the beginning, so that one can be written on a disk that the bytes have filled.
        let failure = posix_fallocate(record, 0, off_t(PartRecord.size))
        guard failure != ENOSPC, failure != EDQUOT else {
            errno = failure
            throw .unwritable(target)
        }
    }

    /// Appends bytes; if the disk is full, those that were written still count.
    func append(_ bytes: [UInt8]) throws(BackplaneError) {
        let written = Self.write(bytes, to: data, at: count)
        let failure = written < bytes.count ? BackplaneError.unwritable(target) : nil
        bytes.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<written])) }
        count += Int64(written)
        if let failure { throw failure }
        if count - marked >= Self.markInterval { try mark() }
    }

    /// Records the current number of bytes.
    func mark() throws(BackplaneError) {
        guard isOpen, count > marked else { return }
        let place = PartRecord.originSize + marks % PartRecord.places * PartRecord.markSize
        try write(PartRecord.bytes(of: PartMark(count: count, sum: sum.value)), to: record, at: Int64(place))
        (marks, marked) = (marks + 1, count)
    }

    /// Waits until the bytes and the record are on the disk; bytes that are appended in the meantime may not be.
    func sync() throws(BackplaneError) {
        guard isOpen else { return }
        try requireSuccess(fdatasync(data))
        try requireSuccess(fdatasync(record))
    }

    /// Checks the result of a flush, and that none has failed before: Linux reports an error of the disk only once.
    private func requireSuccess(_ status: Int32) throws(BackplaneError) {
        if status != 0 { hasFailed.store(true, ordering: .relaxed) }
        if hasFailed.load(ordering: .relaxed) { throw .unwritable(target) }
    }

    // MARK: The end

    /// Returns the SHA-256 of the file.
    func sha256() throws(BackplaneError) -> [UInt8] {
        var digest = ContentDigest(.sha256), position: Int64 = 0
        while true {
            let piece = try Self.read(data, upTo: 1 << 20, from: position, target)
            if piece.isEmpty { return digest.finalize() }
            digest.update(piece)
            position += Int64(piece.count)
        }
    }

    /// Moves the file to its target, and returns its final path; `nil` if an existing file is kept.
    func finish(_ policy: ExistingFile) throws(BackplaneError) -> String? {
        try requireSuccess(fsync(data))
        let place = try TargetPath.move(path, to: target, policy)
        unlink(path + TargetPath.recordMark)
        if place == nil { unlink(path) }
        release()
        return place
    }

    /// Removes the part and its record.
    func remove() {
        unlink(path + TargetPath.recordMark)
        unlink(path)
        (count, marked) = (0, 0)
        release()
    }

    /// Closes the part, which releases its lock; it must not be used afterwards.
    func release() {
        guard isOpen else { return }
        isOpen = false
        close(record)
        // A process that another thread is starting has a copy of the descriptor until it runs its program, and the
        // lock would last as long as the copy.
        _ = flock(data, LOCK_UN)
        close(data)
    }

    private func write(_ bytes: [UInt8], to file: Int32, at offset: Int64) throws(BackplaneError) {
        guard Self.write(bytes, to: file, at: offset) == bytes.count else { throw .unwritable(target) }
    }

    /// Writes bytes, and returns the number of those that were written; if it is lower, `errno` contains the reason.
    private static func write(_ bytes: [UInt8], to file: Int32, at offset: Int64) -> Int {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let written = pwrite(file, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { break }
                done += written
            }
            return done
        }
    }

    private static func read(
        _ file: Int32, upTo size: Int, from offset: Int64, _ target: String
    ) throws(BackplaneError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let more = pread(
                    file, buffer.baseAddress.map { $0 + count }, size - count, off_t(offset) + off_t(count))
                if more < 0, errno == EINTR { continue }
                failed = more < 0
                guard more > 0 else { break }
                count += more
            }
        }
        guard !failed else { throw .unwritable(target) }
        return bytes
    }
}
