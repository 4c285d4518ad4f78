import Glibc

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
            } catch {
                throw NotCopied(path: source, reason: "\(error)")
            }
            guard size >= 0 else { throw NotCopied(path: source, reason: "the total size of the files is too large") }
        }
    }
}
