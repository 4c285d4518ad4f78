import Glibc

/// A namespace for operations on a folder and its contents.
package enum FileTree {
    /// Returns the names in the folder at `path`, sorted by their bytes.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - most: The maximum number of entries; the rest are omitted.
    package static func names(in path: String, most: Int = .max) throws(SystemError) -> [String] {
        guard let folder = opendir(path) else { throw .last }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < most, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Removes the folder at `path` with its contents; links are removed, not followed.
    ///
    /// Files that cannot be removed remain, as do the folders that contain them.
    package static func remove(_ path: String) {
        for name in (try? names(in: path)) ?? [] {
            let child = FilePath.join(path, name)
            if (try? FileStatus(at: child))?.kind == .folder { remove(child) } else { unlink(child) }
        }
        rmdir(path)
    }
}

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

extension FileTree {
    /// The reason why a tree could not be copied.
    package struct NotCopied: Error, Hashable {
        package let path: String
        package let reason: String
    }

    /// Copies the folder at `source` with its contents to `target`, which must not exist; links are refused.
    ///
    /// If it fails, the partial copy is removed.
    package static func copy(_ source: String, to target: String, maximumSize: Int, maximumCount: Int) throws(NotCopied)
    {
        var copying = Copying(size: maximumSize, count: maximumCount)
        do throws(NotCopied) {
            try copying.folder(source, to: target)
        } catch {
            remove(target)
            throw error
        }
    }

    /// The state of a copy: the numbers of bytes and files that may still be copied.
    private struct Copying {
        var size: Int
        var count: Int

        mutating func folder(_ source: String, to target: String) throws(NotCopied) {
            let names: [String]
            do throws(SystemError) {
                names = try FileTree.names(in: source)
                guard mkdir(target, 0o700) == 0 else { throw .last }
            } catch {
                throw NotCopied(path: source, reason: "\(error)")
            }
            for name in names {
                let from = FilePath.join(source, name), to = FilePath.join(target, name)
                switch try kind(of: from) {
                case .folder: try folder(from, to: to)
                case .file: try file(from, to: to)
                case .link, .other:
                    throw NotCopied(path: from, reason: "expected files and folders, found a link or something else")
                }
            }
        }

        private func kind(of path: String) throws(NotCopied) -> FileStatus.Kind {
            do { return try FileStatus(at: path).kind } catch { throw NotCopied(path: path, reason: "\(error)") }
        }

        private mutating func file(_ source: String, to target: String) throws(NotCopied) {
            count -= 1
            guard count >= 0 else { throw NotCopied(path: source, reason: "there are too many files") }
            do throws(SystemError) {
                let from = try FileDescriptor(opening: source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                let to = try FileDescriptor(opening: target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
                size -= try from.copy(to: to, limit: max(0, size))
                // A server derives the entity tag of a resource from its time.
                try to.setModified(try FileStatus(of: from).modified)
            } catch {
                throw NotCopied(path: source, reason: "\(error)")
            }
            guard size >= 0 else { throw NotCopied(path: source, reason: "the total size of the files is too large") }
        }
    }
}

extension FileTree {
    /// Returns whether two folders contain the same files with the same bytes; unreadable files count as different.
    static func isSame(_ path: String, as other: String) -> Bool {
        guard let names = try? names(in: path), names == (try? self.names(in: other)) else { return false }
        return names.allSatisfy { name in
            let (here, there) = (FilePath.join(path, name), FilePath.join(other, name))
            guard let kind = try? FileStatus(at: here).kind, kind == (try? FileStatus(at: there))?.kind else {
                return false
            }
            return kind == .folder ? isSame(here, as: there) : kind == .file && isSameFile(here, there)
        }
    }

    private static func isSameFile(_ path: String, _ other: String) -> Bool {
        guard let here = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let there = try? FileDescriptor(opening: other, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let size = try? FileStatus(of: here).size, let otherSize = try? FileStatus(of: there).size,
            size == otherSize
        else { return false }
        return here.isSame(as: there, in: 0..<size)
    }
}
