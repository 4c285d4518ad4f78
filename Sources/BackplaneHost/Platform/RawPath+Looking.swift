import Glibc

extension RawPath {
    /// The kind of the file at the path, without following a link; `nil` if there is no accessible file.
    package var kind: FileStatus.Kind? { status.map(Self.kind) }

    /// The target of the symbolic link at the path, as written; `nil` if there is no link.
    package var destination: RawPath? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = withCString { path in
            bytes.withUnsafeMutableBytes {
                readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
            }
        }
        return count < 0 ? nil : RawPath(bytes: [UInt8](bytes[..<count]))
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
