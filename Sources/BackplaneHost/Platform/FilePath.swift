import Glibc

/// A namespace for operations on paths as text, without access to any file.
package enum FilePath {
    /// Returns the part after the last slash.
    package static func name(of path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    /// Returns the part before the last slash: `/` for a name directly below it, `.` for a path without a slash.
    package static func folder(of path: String) -> String {
        // By bytes, as the system does: a slash and a combining accent are one character.
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the path of `name` in `folder`, or `name` itself if it is absolute.
    package static func join(_ folder: String, _ name: String) -> String {
        if name.hasPrefix("/") || folder.isEmpty { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the absolute path without `.`, `..` and repeated slashes; symbolic links are not resolved.
    package static func absolute(_ path: String) -> String {
        var parts: [Substring] = []
        for part in join(currentFolder, path).split(separator: "/") where part != "." {
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
