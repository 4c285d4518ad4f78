import Glibc

/// A namespace for operations on paths as text, without access to any file.
///
/// They go by bytes, as the system does: to `Character`, a slash and a combining accent are one.
package enum FilePath {
    private static let slash = UInt8(ascii: "/")

    /// Returns the part after the last slash.
    package static func name(of path: String) -> String {
        String(path[(path.utf8.lastIndex(of: slash).map(path.utf8.index(after:)) ?? path.startIndex)...])
    }

    /// Returns the part before the last slash: `/` for a name directly below it, `.` for a path without a slash.
    package static func folder(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash) else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Returns the path of `name` in `folder`, or `name` itself if it is absolute.
    package static func join(_ folder: String, _ name: String) -> String {
        if name.utf8.first == slash || folder.isEmpty { return name }
        return folder.utf8.last == slash ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the absolute path without `.`, `..` and repeated slashes; symbolic links are not resolved.
    package static func absolute(_ path: String) -> String {
        var parts: [String] = []
        for part in join(currentFolder, path).utf8.split(separator: slash).map({ String(Substring($0)) })
        where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static var currentFolder: String {
        guard let text = getcwd(nil, 0) else { return "/" }
        defer { free(text) }
        return String(cString: text)
    }
}

/// A path or a single name as the system stores it: bytes that need not be text, compared byte by byte.
///
/// As `String` values, names that the system distinguishes could be equal, and a name that is not UTF-8 would no longer
/// identify its file.
package struct RawPath: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { self.init(bytes: [UInt8](text.utf8)) }

    /// The path as text for messages; bytes that are not UTF-8 are replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The components of the path.
    package var names: [RawPath] { bytes.split(separator: Self.slash).map { RawPath(bytes: [UInt8]($0)) } }

    /// Returns the path of `name` in the folder at this path.
    package func appending(_ name: RawPath) -> RawPath {
        RawPath(bytes: bytes.last == Self.slash ? bytes + name.bytes : bytes + [Self.slash] + name.bytes)
    }

    /// The part before the last slash; `/` for the root itself.
    package var folder: RawPath {
        guard let end = bytes.lastIndex(of: Self.slash), end > 0 else { return .root }
        return RawPath(bytes: [UInt8](bytes[..<end]))
    }

    package static let root = RawPath("/")
    private static let slash = UInt8(ascii: "/")

    /// Calls `body` with the bytes followed by a zero; the path itself must not contain one.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }
}

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

/// The folder for files that a host needs only while it is running: control sockets and copies of libraries.
package enum RuntimeFolder {
    /// Returns the path of the folder, such as `$XDG_RUNTIME_DIR/backplane`.
    ///
    /// The XDG Base Directory Specification makes such a folder private to the user. If it is missing or not private,
    /// the path is that of a user's folder in the temporary folder.
    ///
    /// - Parameter variable: `XDG_RUNTIME_DIR`, which is emptied by the system and mostly in memory, or
    ///   `XDG_CACHE_HOME`, which is on disk.
    package static func path(
        in variable: String = "XDG_RUNTIME_DIR", _ environment: (String) -> String? = ProcessEnvironment.value
    ) -> String {
        if let folder = environment(variable), isUsable(folder) { return FilePath.join(folder, "backplane") }
        return FilePath.join(environment("TMPDIR") ?? "/tmp", "backplane-\(geteuid())")
    }

    private static func isUsable(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), let status = try? FileStatus(at: folder) else { return false }
        return status.kind == .folder && status.owner == geteuid() && !status.isWritableByAnyoneElse
            && access(folder, W_OK | X_OK) == 0
    }
}

/// The program that this process runs.
package enum RunningExecutable {
    /// The folder that contains the program, with all links resolved; `nil` if `/proc` is not mounted.
    ///
    /// For a program that was deleted or replaced while it runs, this is the folder that contained it.
    package static var folder: String? {
        var text = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = text.withUnsafeMutableBytes { buffer in
            readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard count > 0 else { return nil }
        return FilePath.folder(of: String(decoding: text[..<count], as: UTF8.self))
    }
}

/// The file system that contains a file.
package struct Mount: Sendable {
    /// A Boolean value that indicates whether files on the mount cannot be executed or loaded as a library.
    package let isNoExec: Bool

    package init(holding path: String) throws(SystemError) {
        var raw = statvfs()
        try retryingInterrupted { statvfs(path, &raw) }
        // ST_NOEXEC of bits/statvfs.h, an enumeration that the importer does not see.
        isNoExec = raw.f_flag & 8 != 0
    }
}
