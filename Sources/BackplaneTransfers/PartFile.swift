import Backplane
import BackplaneExchange
import BackplaneNetwork
import FoundationEssentials
import Glibc

/// The record next to a part file: the origin of its bytes, and the number of bytes on the disk.
///
/// The record is a JSON file that is overwritten in place, so that it can be written even if the bytes have filled the
/// disk.
struct PartRecord: Codable, Sendable, Equatable {
    /// The URL without its fragment, which servers do not see.
    var url: String
    /// The strong validator of the version (RFC 9110, section 8.8.1); `nil` if the server provides none.
    var validator: String?
    /// The number of bytes of the whole file, if the server has announced it.
    var length: Int64?
    var synced: Int64 = 0
    /// The run of the system (`boot_id`) in which a process is appending bytes; `nil` once they are flushed.
    ///
    /// During that run, the system keeps all bytes of a process that was killed. After a power failure, only the
    /// flushed bytes are certain.
    var boot: String?

    static let currentBoot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .split(separator: "\n").first.map(String.init)
}

/// The file to which a download is written, next to its target and accompanied by its record.
///
/// Its name is derived from the target's name, so that any transfer to the same target finds the part. The part is
/// locked (`flock(2)`) while it is in use.
///
/// `@unchecked`: only one task uses the part at a time, except for ``sync(_:)``. Meanwhile, only ``sync(_:)`` uses the
/// record, and every function except ``append(_:)`` waits for it.
final class PartFile: @unchecked Sendable {
    let target: String
    let path: String
    private let data: Int32
    private let recordFile: Int32
    private var record: PartRecord?
    private var isOpen = true
    /// The error of the first flush that failed, which Linux reports only once.
    private var failure: BackplaneError?
    private(set) var count: Int64 = 0

    init(target: String) throws(BackplaneError) {
        guard let place = TargetPath(target) else { throw .noFile(target) }
        (self.target, path) = (target, place.part)
        var existing = stat()
        guard stat(target, &existing) != 0 || existing.st_mode & S_IFMT != S_IFDIR else {
            throw BackplaneError(.networkFile, "this is a folder; name the file to download to", at: target)
        }
        data = try Self.open(path, target)
        var status = stat(), named = stat()
        guard flock(data, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
            // The last user of the file may have moved or removed it just before this lock was granted.
            fstat(data, &status) == 0, stat(path, &named) == 0, status.st_ino == named.st_ino
        else {
            Glibc.close(data)
            throw .targetTaken(target)
        }
        do throws(BackplaneError) {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw BackplaneError(
                    .networkFile, "expected a regular file beside the target, found another kind", at: path)
            }
            recordFile = try Self.open(path + TargetPath.recordMark, target)
        } catch {
            Glibc.close(data)
            throw error
        }
    }

    deinit { close() }

    private static func open(_ path: String, _ target: String) throws(BackplaneError) -> Int32 {
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard number >= 0 else { throw .unwritable(target) }
        return number
    }

    /// Drops uncertain bytes and flushes the others; returns their origin, and whether there were any bytes.
    func restore() throws(BackplaneError) -> (origin: PartRecord?, hadBytes: Bool) {
        var status = stat()
        guard fstat(data, &status) == 0 else { throw .unwritable(target) }
        let size = Int64(status.st_size)
        record = (try? Data(contentsOf: URL(filePath: path + TargetPath.recordMark)))
            .flatMap { try? JSONDecoder().decode(PartRecord.self, from: $0) }
        let isThisRun = record?.boot != nil && record?.boot == PartRecord.currentBoot
        count = isThisRun ? size : min(size, record?.synced ?? 0)
        try truncate()
        if count > 0 { try sync(count) }
        return (count > 0 ? record : nil, size > 0 || record?.synced ?? 0 > 0)
    }

    private func truncate() throws(BackplaneError) {
        guard ftruncate(data, off_t(count)) == 0 else { throw .unwritable(target) }
    }

    /// Empties the part, and records the origin of the bytes to come.
    func begin(_ origin: PartRecord) throws(BackplaneError) {
        let hadSynced = record?.synced ?? 0 > 0
        count = 0
        try truncate()
        // The record of the previous URL may be longer.
        guard ftruncate(recordFile, 0) == 0 else { throw .unwritable(target) }
        var new = origin
        (new.synced, new.boot) = (0, PartRecord.currentBoot)
        try write(new)
        // After a power failure, the new bytes must not be attributed to the last origin.
        if hadSynced { try flush(recordFile) }
    }

    /// Appends bytes; if the disk is full, the bytes written so far still count.
    func append(_ bytes: [UInt8]) throws(BackplaneError) {
        let written = bytes.withUnsafeBytes { $0.write(to: data, at: count) }
        count += Int64(written)
        if written < bytes.count { throw .unwritable(target) }
    }

    /// Waits until a number of bytes is on the disk, and records it.
    func sync(_ count: Int64, isLast: Bool = false) throws(BackplaneError) {
        guard isOpen, var record else { return }
        try flush(data)
        (record.synced, record.boot) = (count, isLast ? nil : PartRecord.currentBoot)
        try write(record)
        try flush(recordFile)
    }

    /// Leaves the part for the next run, with all bytes flushed or, after a failure, the bytes that are on the disk.
    func leave() throws(BackplaneError) {
        guard isOpen else { return }
        do throws(BackplaneError) {
            try sync(count, isLast: true)
        } catch {
            if failure != nil, let record {
                count = record.synced
                try? truncate()
            }
            throw error
        }
    }

    private func flush(_ file: Int32) throws(BackplaneError) {
        if fdatasync(file) != 0, failure == nil { failure = .unwritable(target) }
        if let failure { throw failure }
    }

    /// Overwrites the record; numbers that grow later fit into the spaces after the record.
    private func write(_ record: PartRecord) throws(BackplaneError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and numbers always encode.
        var bytes = Array((try? encoder.encode(record)) ?? Data())
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: 4_096 - (bytes.count + 256) % 4_096 + 256)
        let written = bytes.withUnsafeBytes { $0.write(to: recordFile, at: 0) }
        guard written == bytes.count else { throw .unwritable(target) }
        self.record = record
    }

    func sha256() throws(BackplaneError) -> [UInt8] {
        var digest = ContentDigest(.sha256), position: Int64 = 0, piece = [UInt8](repeating: 0, count: 1 << 20)
        while position < count {
            let wanted = Int(min(Int64(piece.count), count - position))
            let read = pread(data, &piece, wanted, off_t(position))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw .unwritable(target) }
            digest.update(Array(piece[..<read]))
            position += Int64(read)
        }
        return digest.finalize()
    }

    /// Moves the file to its target, and returns its final path; `nil` if an existing file is kept.
    func finish(_ policy: ExistingFile) throws(BackplaneError) -> String? {
        try flush(data)
        let place = try TargetPath.move(path, to: target, policy)
        unlink(path + TargetPath.recordMark)
        if place == nil { unlink(path) }
        close()
        return place
    }

    func remove() {
        unlink(path + TargetPath.recordMark)
        unlink(path)
        count = 0
        close()
    }

    /// Closes the part, which releases its lock; it must not be used afterwards.
    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(recordFile)
        // A process that another thread is starting has a copy of the descriptor until it runs its program, and the
        // lock would last as long as the copy.
        _ = flock(data, LOCK_UN)
        Glibc.close(data)
    }
}

/// The paths of a download's target and of the part next to it.
struct TargetPath: Sendable {
    static let recordMark = ".json"
    /// The folder with its trailing slash; empty for the current one.
    let folder: Substring
    let name: Substring

    /// Creates the path; returns `nil` if it cannot be the path of a file.
    init?(_ path: String) {
        let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        (folder, name) = (path[..<start], path[start...])
        guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else { return nil }
    }

    /// The path of the part, whose name has a fixed length because the target's name may have the maximum length.
    var part: String {
        "\(folder).backplane-part-\(Array(ContentDigest.sha256(of: Array(name.utf8)).prefix(8)).hexadecimal)"
    }

    func numbered(_ number: Int) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        return "\(folder)\(name[..<dot])-\(number)\(name[dot...])"
    }

    /// Moves a file to its target, where it appears atomically; returns `nil` if an existing file is kept.
    static func move(_ path: String, to target: String, _ policy: ExistingFile) throws(BackplaneError) -> String? {
        guard let place = TargetPath(target) else { throw .noFile(target) }
        defer { place.syncFolder() }
        if policy == .replace {
            guard rename(path, target) == 0 else { throw .unwritable(target) }
            return target
        }
        if try moveWithoutReplacing(path, target) { return target }
        if policy == .keep { return nil }
        let mostNumbers = 10_000
        for number in 2...mostNumbers {
            let numbered = place.numbered(number)
            if try moveWithoutReplacing(path, numbered) { return numbered }
        }
        throw BackplaneError(
            .networkFile, "there are \(mostNumbers) numbered files with this name; remove some", at: target)
    }

    /// Moves a file unless the target exists, and returns whether it was moved.
    private static func moveWithoutReplacing(_ path: String, _ target: String) throws(BackplaneError) -> Bool {
        if link(path, target) == 0 {
            unlink(path)
            return true
        }
        if errno == EEXIST { return false }
        // Some file systems do not support hard links.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .unwritable(target) }
        if access(target, F_OK) == 0 { return false }
        guard rename(path, target) == 0 else { throw .unwritable(target) }
        return true
    }

    /// Waits until the folder's entries are on the disk; a failure is ignored, because the loss of the move in a power
    /// failure is harmless.
    private func syncFolder() {
        let number = open(folder.isEmpty ? "." : String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        fsync(number)
        close(number)
    }
}

extension BackplaneError {
    static func noFile(_ target: String) -> BackplaneError {
        BackplaneError(.networkFile, "this path does not name a file to download to", at: target)
    }

    static func targetTaken(_ target: String) -> BackplaneError {
        BackplaneError(
            .transferTaken, "another transfer downloads to this file; wait for it, or cancel it", at: target)
    }

    /// Returns the error of the last system call that wrote, moved or read a file of a download.
    static func unwritable(_ target: String) -> BackplaneError {
        BackplaneError(
            .networkFile, "the download cannot be written to this file: \(String(cString: strerror(errno)))", at: target
        )
    }
}
