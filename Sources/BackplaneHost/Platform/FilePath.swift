import Glibc

/// Paths as text: nothing here looks at a file.
package enum FilePath {
    /// What stands after the last slash.
    package static func name(of path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    /// What stands before the last slash: `/` for a name directly below it, `.` for a mere name.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// `name` in `folder`, or `name` itself where it is absolute.
    package static func join(_ folder: String, _ name: String) -> String {
        if name.hasPrefix("/") || folder.isEmpty { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The path from the root on, without `.`, `..` and doubled slashes; symbolic links stay as they are written.
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
