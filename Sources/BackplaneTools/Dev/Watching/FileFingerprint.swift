import BackplaneHost
import Glibc

/// A fingerprint that shows whether the contents of a file have changed, no matter how often it was written.
///
/// The hash is FNV-1a. `Hasher` is seeded per process, and fingerprints may be compared with those of another run. It
/// does not protect against forgery; two versions of a file collide by chance with a probability of 1 in 2⁶⁴.
enum FileFingerprint: Sendable, Hashable {
    case missing
    case contents(size: Int, hash: UInt64)
    /// A file too large to be read; equal as long as its metadata is equal.
    case large(FileStatus)
    /// A folder, a pipe or another special file.
    case other
    case unreadable(SystemError)

    /// Reads the file at `path`, following links.
    ///
    /// - Parameter limit: The maximum number of bytes to read; larger files are compared by metadata.
    init(of path: String, limit: Int = 64 << 20) {
        do throws(SystemError) {
            // Without `O_NONBLOCK`, opening a pipe would block.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), status = try FileStatus(of: file)
            guard status.kind == .file else {
                self = .other
                return
            }
            guard status.size <= limit else {
                self = .large(status)
                return
            }
            // Read one byte more than the size, so that a file that grows in the meantime is recognised as different.
            let bytes = try file.bytes(count: status.size + 1)
            self = .contents(size: bytes.count, hash: Self.hash(bytes))
        } catch {
            self = error.number == ENOENT || error.number == ENOTDIR ? .missing : .unreadable(error)
        }
    }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return hash
        }
    }
}
