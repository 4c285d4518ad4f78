import Glibc

/// A namespace for operations on paths as text.
///
/// The operations compare bytes, as the system does: a slash and a combining accent are one `Character`.
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
        for part in names(in: join(currentFolder, path)) where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the components of a path.
    package static func names(in path: String) -> [String] {
        path.utf8.split(separator: slash).map { String(Substring($0)) }
    }

    /// Returns the target of the symbolic link at a path, as written; `nil` if there is no link.
    package static func destination(of path: String) -> String? {
        var text = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = text.withUnsafeMutableBytes {
            readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        return count < 0 ? nil : String(decoding: text[..<count], as: UTF8.self)
    }

    private static var currentFolder: String {
        guard let text = getcwd(nil, 0) else { return "/" }
        defer { free(text) }
        return String(cString: text)
    }
}

/// The folder for files that a host needs only while it is running: control sockets and copies of libraries.
package enum RuntimeFolder {
    /// Returns the path of the folder, such as `$XDG_RUNTIME_DIR/backplane`.
    ///
    /// The XDG Base Directory Specification makes such a folder private to the user. If it is missing or not private,
    /// the path is a user's folder in the temporary folder.
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

package enum RunningExecutable {
    /// The folder that contains the program, with all links resolved; `nil` if `/proc` is not mounted.
    ///
    /// For a program that was deleted or replaced while it runs, this is the folder that contained it.
    package static var folder: String? {
        FilePath.destination(of: "/proc/self/exe").map(FilePath.folder)
    }
}

/// The file system that contains a file.
package struct Mount: Sendable {
    /// Whether files on the mount cannot be executed or loaded as a library.
    package let isNoExec: Bool

    package init(holding path: String) throws(SystemError) {
        var raw = statvfs()
        try retryingInterrupted { statvfs(path, &raw) }
        // ST_NOEXEC of bits/statvfs.h, an enumeration that the importer does not see.
        isNoExec = raw.f_flag & 8 != 0
    }
}
