import Glibc

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
    /// A Boolean value that indicates whether the file is a socket.
    package let isSocket: Bool
    /// The user id of the owner.
    package let owner: UInt32
    /// The id of the group.
    package let group: UInt32
    /// The permission bits, at most `0o7777`.
    package let mode: UInt32
    /// The size in bytes.
    package let size: Int
    package let device, inode: UInt64
    /// The time of the last change of the contents, in seconds and nanoseconds since 1970.
    package let modified: Timestamp

    package struct Timestamp: Sendable, Hashable {
        package let seconds, nanoseconds: Int
    }

    /// Creates the status of an open file.
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
    /// A Boolean value that indicates whether all users of this machine may write to the file.
    package var isWritableByOthers: Bool { mode & 0o002 != 0 }
    /// A Boolean value that indicates whether any user except the owner may write to the file.
    package var isWritableByAnyoneElse: Bool { mode & 0o022 != 0 }
    /// The permissions in the notation of `chmod`, such as `755`.
    package var modeText: String { String(mode, radix: 8) }
}
