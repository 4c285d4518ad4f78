import Glibc

/// The address of a Unix socket, for paths of any length.
enum LocalAddress {
    /// Calls `body` with the address of the socket at `path`.
    ///
    /// An address has room for 107 bytes (unix(7)); a longer path is reached through a descriptor of its folder.
    ///
    /// - Throws: `ENAMETOOLONG` if the name alone is too long, or the error of opening the folder.
    static func with<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Result)
        throws(SystemError) -> Result
    {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        if path.utf8.count <= room { return try fill(path, body) }
        let folder = try FileDescriptor(opening: FilePath.folder(of: path), O_RDONLY | O_DIRECTORY)
        let short = "/proc/self/fd/\(folder.number)/\(FilePath.name(of: path))"
        guard short.utf8.count <= room else { throw SystemError(ENAMETOOLONG) }
        return try fill(short, body)
    }

    /// The longest path in bytes; the last byte of an address is a zero.
    private static let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private static func fill<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        // `withMemoryRebound` would lose the type of the error.
        let memory = UnsafeMutablePointer<sockaddr_un>.allocate(capacity: 1)
        memory.initialize(to: address)
        defer { memory.deallocate() }
        return try body(
            UnsafeRawPointer(memory).assumingMemoryBound(to: sockaddr.self), socklen_t(MemoryLayout<sockaddr_un>.size))
    }
}
