import Glibc

extension FileTree {
    /// A name in a folder, and what it names; of a link itself, not of what it points at.
    package struct Entry: Sendable, Hashable {
        package let name: RawPath
        package let kind: FileStatus.Kind
    }

    /// What the folder at `path` holds, in no order. Costs no look at each file where the file system keeps kinds beside names.
    package static func entries(in path: RawPath) throws(SystemError) -> [Entry] {
        guard let folder = path.withCString({ opendir($0) }) else { throw .last }
        defer { closedir(folder) }
        var entries: [Entry] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { RawPath(bytes: [UInt8]($0.prefix { $0 != 0 })) }
            if name == dot || name == dots { continue }
            // Whatever is gone by now is not there.
            if let kind = kind(entry.pointee.d_type) ?? path.appending(name).kind { entries.append(Entry(name: name, kind: kind)) }
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
