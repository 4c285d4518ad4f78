import BackplaneHost
import Glibc

/// What tells whether a file holds what it held, however often it was written.
///
/// FNV-1a and no `Hasher`, which differs in every process: this may be compared with what another run kept. Nobody is fended off by it;
/// that two versions of a file have one hash is a matter of chance, one in 2⁶⁴.
enum FileFingerprint: Sendable, Hashable {
    case missing
    case contents(size: Int, hash: UInt64)
    /// Larger than what is read: equal as long as nobody writes to it.
    case large(FileStatus)
    /// A folder, a pipe or the like.
    case other
    case unreadable(SystemError)

    /// Of what lies at `path`, through links. Costs the reading of at most `limit` bytes.
    init(of path: String, limit: Int = 64 << 20) {
        do throws(SystemError) {
            // Without O_NONBLOCK a pipe would be waited for.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), status = try FileStatus(of: file)
            guard status.kind == .file else {
                self = .other
                return
            }
            guard status.size <= limit else {
                self = .large(status)
                return
            }
            // One byte more than there were: a file that grows meanwhile is not taken for what it was.
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
