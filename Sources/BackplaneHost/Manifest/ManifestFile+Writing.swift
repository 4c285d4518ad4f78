package import Backplane
package import FoundationEssentials
internal import Glibc

extension ManifestFile {
    /// Replaces a manifest file, or the target of a symbolic link, preserving its owner and permissions.
    ///
    /// - Throws: `manifest.unwritable`, including for a read-only file.
    package static func replace(_ path: String, with bytes: Data) throws(BackplaneError) {
        guard let resolved = realpath(path, nil) else { throw unwritable(path, SystemError.last) }
        defer { free(resolved) }
        try replace(String(cString: resolved), named: path, with: bytes)
    }

    /// Writes a new file.
    ///
    /// - Parameters:
    ///   - model: A file whose permissions limit those of the new one.
    ///   - replaces: A Boolean value that indicates whether to replace an existing file, preserving its owner and
    ///     permissions.
    /// - Throws: `manifest.unwritable`.
    package static func create(_ path: String, with bytes: Data, like model: String, replaces: Bool)
        throws(BackplaneError)
    {
        if (try? FileStatus(at: path)) != nil {
            guard replaces else {
                throw BackplaneError(
                    .manifestUnwritable, "the file already exists; overwrite it with --force", at: path)
            }
            return try replace(path, named: path, with: bytes)
        }
        do { try FileReplacement.create(path, with: bytes, mode: permissions(like: model)) } catch {
            throw unwritable(path, error)
        }
    }

    /// Replaces a file whose symbolic links are resolved.
    ///
    /// - Parameter name: The path of the file in errors.
    private static func replace(_ path: String, named name: String, with bytes: Data) throws(BackplaneError) {
        let status: FileStatus
        do { status = try FileStatus(at: path) } catch { throw unwritable(name, error) }
        guard status.kind == .file else {
            throw BackplaneError(
                .manifestUnwritable, "expected a regular file to replace, found \(status.kind.rawValue)", at: name)
        }
        // Neither renaming nor root needs the right to write to the file, but a read-only file should not be lost.
        guard status.mode & 0o222 != 0, faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 else {
            let words = "the file is read-only (mode \(status.modeText)); `chmod u+w` allows it to be replaced"
            throw BackplaneError(.manifestUnwritable, words, at: name)
        }
        do { try FileReplacement.replace(path, status, with: bytes) } catch { throw unwritable(name, error) }
    }

    /// Returns the permissions of a regular file without those to execute; for other files, the permissions of a new
    /// file.
    ///
    /// Only the permissions of a regular file indicate who may read its contents.
    private static func permissions(like model: String) -> UInt32 {
        guard let file = try? FileDescriptor(opening: model, O_RDONLY | O_NONBLOCK),
            let status = try? FileStatus(of: file), status.kind == .file
        else {
            return 0o666
        }
        return status.mode & 0o666
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.manifestUnwritable, "the manifest cannot be written: \(error)", at: path)
    }
}
