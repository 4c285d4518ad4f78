import Glibc

extension RawPath {
    /// What lies there, not following a link; `nil`: nothing, or nothing that this process may see.
    package var kind: FileStatus.Kind? { status.map(Self.kind) }

    /// Where the symbolic link that lies there leads, as it is written; `nil`: there is none.
    package var destination: RawPath? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = withCString { path in bytes.withUnsafeMutableBytes { readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count) } }
        return count < 0 ? nil : RawPath(bytes: [UInt8](bytes[..<count]))
    }

    /// Whether what lies there is a symbolic link, or a file that nobody is writing.
    ///
    /// One file more is open while it is asked. Where the system does not say who writes a file, one with a second name counts: that
    /// name was given to it when it was finished.
    package var isFinishedFile: Bool {
        guard let status else { return false }
        switch Self.kind(of: status) {
        case .link: return true
        case .folder, .other: return false
        case .file:
            if status.st_nlink > 1 { return true }
            let number = withCString { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
            return number >= 0 && FileDescriptor(adopting: number).isOpenForWriting == false
        }
    }

    private var status: stat? {
        var status = stat()
        return withCString { lstat($0, &status) } == 0 ? status : nil
    }

    private static func kind(of status: stat) -> FileStatus.Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
    }
}
