import Glibc

extension FileTree {
    /// The name and the kind of a file in a folder; a symbolic link is not followed.
    package struct Entry: Sendable, Hashable {
        package let name: RawPath
        package let kind: FileStatus.Kind
    }

    /// Returns the contents of the folder at `path` in no particular order.
    ///
    /// The files themselves are inspected only if the file system does not store their kinds with the names.
    package static func entries(in path: RawPath) throws(SystemError) -> [Entry] {
        guard let folder = path.withCString({ opendir($0) }) else { throw .last }
        defer { closedir(folder) }
        var entries: [Entry] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { RawPath(bytes: [UInt8]($0.prefix { $0 != 0 })) }
            if name == dot || name == dots { continue }
            // A file that has been removed in the meantime is left out.
            if let kind = kind(entry.pointee.d_type) ?? path.appending(name).kind {
                entries.append(Entry(name: name, kind: kind))
            }
        }
        return entries
    }

    private static let dot = RawPath("."), dots = RawPath("..")

    private static func kind(_ type: UInt8) -> FileStatus.Kind? {
        switch Int(type) {
        case DT_REG: .file
        case DT_DIR: .folder
        case DT_LNK: .link
        case DT_UNKNOWN: nil
        default: .other
        }
    }
}
